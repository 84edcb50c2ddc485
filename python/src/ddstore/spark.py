# SPDX-License-Identifier: Apache-2.0
"""Stores of a Spark application, from PySpark: classic sessions and Spark Connect by the same calls.

>>> import ddstore.spark
>>> store = ddstore.spark.load(df, "train", ranks=4)
>>> results = store.run(train)  # one Python process per rank, beside its rows

Needs PySpark 4.0 or later, and the runtime jar in the application. All calls block unless they say otherwise. The
stores of a Spark Connect server belong to all of its users.
"""

from __future__ import annotations

import builtins
import json
import os
import re
import secrets
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyspark

from . import _run
from ._run import RankError
from ._store import Store, probed
from .errors import StoreLostError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ._ranks import Rank

T = TypeVar("T")

__all__ = ["Grant", "Handle", "RankError", "ResidentStore", "list", "load", "open"]

_FORMAT = "ddstore"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")

#: arguments of load by option of the data source
_OPTIONS = {
    "ranks": "ranks",
    "width": "width",
    "transport": "transport",
    "orderBy": "order_by",
    "shuffle": "shuffle",
    "columns": "columns",
    "backing": "backing",
    "directory": "directory",
    "decimals": "decimals",
    "type": "types",
    "fillNulls": "fill_nulls",
    "pad": "pad",
    "truncate": "truncate",
}

#: Python's errors of those of Java; others are RuntimeError
_ERRORS: dict[str, type[Exception]] = {
    "IllegalArgumentException": ValueError,
    "PreflightException": ValueError,
    "IngestException": ValueError,
    "UnsupportedOperationException": NotImplementedError,
    "DeadlineExceededException": TimeoutError,
    "RebuildDiffersException": StoreLostError,
    "StoreJobException": StoreLostError,
    "IOException": OSError,
    "NoSuchFileException": FileNotFoundError,
    "AccessDeniedException": PermissionError,
}


def load(
    df: DataFrame,
    name: str,
    *,
    ranks: int | None = None,
    width: int | None = None,
    order_by: str | Iterable[str] | None = None,
    shuffle: int | None = None,
    columns: Iterable[str] | None = None,
    types: Mapping[str, str] | None = None,
    fill_nulls: Mapping[str, Any] | None = None,
    pad: Mapping[str, Any] | None = None,
    truncate: Mapping[str, bool] | None = None,
    decimals: str | Mapping[str, str] | None = None,
    backing: str | None = None,
    directory: str | None = None,
    transport: str | None = None,
) -> ResidentStore:
    """Loads the rows of a DataFrame into the memory of the executors.

    Args:
        df: rows to load.
        name: name of the store, 1 to 128 letters, digits, ``_`` and ``-``; unique in the application.
        ranks: number of ranks, in [1, 16384]; by default all slots.
        width: number of ranks that together hold one full copy; a divisor of the ranks; by default all.
        order_by: columns to order the rows by; by default the order of the source.
        shuffle: seed to shuffle the rows by, an int64.
        columns: columns to store, by default all.
        types: type and shape by column, such as ``{"image": "uint8[28,28]"}``.
        fill_nulls: replacement of nulls by column; by default nulls are errors.
        pad: number that pads shorter arrays to the shape, by column.
        truncate: columns whose longer arrays are cut to the shape.
        decimals: ``int64`` or ``float64``, for all decimal columns or by column.
        backing: memory of the shards: ``shm``, ``direct`` or ``file``.
        directory: folder of the files, with ``backing="file"``.
        transport: transport of rows outside of shared memory.

    Raises:
        ValueError: an argument is not legal, the name exists, the cluster has too few slots or too little memory, or
            a value does not fit its field; the message names column and row.
    """
    _check_name(name)
    options = {
        "ranks": ranks,
        "width": width,
        "transport": transport,
        "shuffle": shuffle,
        "orderBy": order_by if isinstance(order_by, str) or order_by is None else ",".join(order_by),
        "columns": None if columns is None else ",".join([columns] if isinstance(columns, str) else columns),
        "backing": backing,
        "directory": directory,
        "decimals": decimals if isinstance(decimals, str) else None,
    }
    by_column = {"type": types, "fillNulls": fill_nulls, "pad": pad, "truncate": truncate}
    if decimals is not None and not isinstance(decimals, str):
        by_column["decimals"] = decimals
    for option, values in by_column.items():
        for column, value in (values or {}).items():
            options[f"{option}.{column}"] = value
    writer = df.write.format(_FORMAT).mode("error")
    for option, value in options.items():
        if value is not None:
            writer = writer.option(option, str(value).lower() if isinstance(value, bool) else str(value))
    spark = _session(df.sparkSession)
    _translated(writer.save, name)
    return ResidentStore(spark, name)


def open(spark: SparkSession, name: str) -> ResidentStore:
    """Returns a store of the application.

    Raises:
        ValueError: no store has this name; the message lists the known names.
    """
    store = ResidentStore(_session(spark), _check_name(name))
    store._describe()
    return store


def list(spark: SparkSession) -> builtins.list[ResidentStore]:
    """Returns the stores of the application, in the order of their names."""
    rows = _translated(lambda: _session(spark).sql("SHOW TABLES IN ddstore").collect())
    return [ResidentStore(spark, row["tableName"]) for row in rows]


@dataclass(frozen=True)
class Grant:
    """A permission to read a store from outside of Spark.

    Attributes:
        label: its name.
        expires: its end by the clocks of the executors; None: that of the store.
        is_revoked: whether :meth:`ResidentStore.revoke` has ended it.
    """

    label: str
    expires: datetime | None
    is_revoked: bool


class Handle:
    """A description of the places of the rows, with a key: whoever has it can read the rows.

    Args:
        store: the store.
        text: one line of JSON.
        is_granted: whether it is that of a grant.
    """

    def __init__(self, store: ResidentStore, text: str, is_granted: bool) -> None:
        self._store = store
        self._text = text
        self._is_granted = is_granted

    def __repr__(self) -> str:
        return f"<ddstore.spark.Handle of {self._store.name!r}>"

    def to_json(self) -> str:
        """Returns the text, with its key."""
        return self._text

    def save(self, path: str | os.PathLike[str], follow: bool = False) -> None:
        """Replaces a local file by the handle at once; only its user can read it.

        Args:
            path: the file, for :func:`ddstore.attach`.
            follow: whether to write it again after each append and repair, until the store ends. Not for a grant,
                nor with Spark Connect, whose driver is another process.
        """
        target = Path(path).absolute()
        if follow:
            if _run.is_remote(self._store._spark):
                raise NotImplementedError(
                    f"save({str(path)!r}, follow=True): the driver of Spark Connect has no files of this process; save "
                    "again after append() and repair()"
                )
            if self._is_granted:
                raise NotImplementedError(f"save({str(path)!r}, follow=True): only store.handle() is kept up to date")
            self._store._call("follow", file=str(target))
            return
        descriptor, made = tempfile.mkstemp(prefix=f".{target.name}", dir=target.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(self._text + "\n")
            os.replace(made, target)
        except BaseException:
            os.unlink(made)
            raise

    def attach(self, *, timeout: float = 60.0) -> Store:
        """Opens the store in this process, as :func:`ddstore.attach` does; the result cannot be pickled.

        A handle of a cluster reads rows only where this process reaches the data ports of the executors.
        """
        return probed(Store("", json=self._text, timeout=timeout))


class ResidentStore:
    """A store whose rows stay in the executors until :meth:`drop` or the end of the application.

    Made by :func:`load` and :func:`open`. Thread-safe.
    """

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark = spark
        self._store_name = name

    @property
    def name(self) -> str:
        """The name."""
        return self._store_name

    def __repr__(self) -> str:
        return f"<ddstore.spark.ResidentStore {self._store_name!r}>"

    def __len__(self) -> int:
        """Returns the present number of rows. Asks the driver, as do the properties below."""
        return int(self._describe()["rows"])

    @property
    def bytes(self) -> int:
        """Memory of one copy of the rows, in bytes."""
        return int(self._describe()["bytes"])

    @property
    def ranks(self) -> int:
        """Number of ranks that hold the store."""
        return int(self._describe()["ranks"])

    @property
    def width(self) -> int:
        """Number of ranks that together hold one full copy."""
        return int(self._describe()["width"])

    @property
    def digest(self) -> str:
        """Digest of the rows; it does not depend on the number of ranks."""
        return str(self._describe()["digest"])

    @property
    def owner(self) -> str:
        """The user who created the store, who alone may change it."""
        return str(self._describe()["owner"])

    @property
    def fields(self) -> builtins.list[str]:
        """Name and type of each field of a row, such as ``x float32[28, 28]``."""
        return [str(field) for field in self._describe()["fields"]]

    def to_df(self) -> DataFrame:
        """Returns the rows as a DataFrame. Lazy."""
        return self._spark.read.format(_FORMAT).load(self._store_name)

    def sample(self, count: int, seed: int | None = None) -> DataFrame:
        """Returns distinct random rows as a DataFrame. Lazy; each query of it reads the same rows.

        Args:
            count: number of rows, in [0, len(store)], at most 10 million.
            seed: any int64; random by default.
        """
        number = secrets.randbits(63) if seed is None else seed
        reader = self._spark.read.format(_FORMAT).option("sample", count).option("sampleSeed", number)
        df: DataFrame = _translated(reader.load, self._store_name)
        _translated(lambda: df.schema)  # checks the arguments now, with Spark Connect too
        return df

    def append(self, df: DataFrame) -> None:
        """Appends rows at the end; present rows keep their indices. All or nothing.

        Raises:
            ValueError: columns or types differ, or a value does not fit its field.
        """
        _translated(df.write.format(_FORMAT).mode("append").save, self._store_name)

    def replace(self, df: DataFrame) -> None:
        """Replaces all rows, with the options of :func:`load`. The old rows stay until the new ones are complete."""
        _translated(df.write.format(_FORMAT).mode("overwrite").save, self._store_name)

    def repair(self) -> None:
        """Restores rows of lost executors, and copies those of executors that are about to end."""
        self._call("repair")

    def drop(self) -> None:
        """Frees the memory on all executors. No effect if the store was dropped."""
        statement = f"DROP TABLE IF EXISTS ddstore.`{self._store_name}`"
        _translated(lambda: self._spark.sql(statement).collect())

    def explain(self) -> str:
        """Returns lines about rows, memory, executors, transport, lost rows and warnings."""
        return str(self._call("explain"))

    def statistics(self) -> dict[str, Any]:
        """Returns the state of the store and what was read since the load, as each executor counts it.

        Asks all executors at the same time, for at most 30 s.

        Returns:
            A dict with ``name``, ``owner``, ``createdMs`` (milliseconds since 1970), ``rows``, ``bytes`` (of one copy),
            ``ranks``, ``width``, ``backing``, ``transport``, ``lostRanks``, ``unreadableRows``, ``losses`` (of shards),
            ``repairs``, ``repairMillis``, ``grants`` (as :meth:`grants`, with ``expiresMs``) and ``executors``, each
            with ``executorId``, ``host``, ``ranks``, ``shards``, ``rows``, ``bytes``, ``leases`` (shards of an
            unfinished load), ``servedRequests``, ``answeredMs`` and:

            * ``readers``: by ``reader`` (``rank<r>``, ``scan`` or ``attached``): ``reads`` (``calls``, ``rows`` and
              ``bytes`` by ``path``: ``own_process``, ``same_host`` and ``remote``), ``latency`` (``counts`` of one
              batch in 64 of at most ``1024 << bucket`` ns each, ``p50Micros`` and ``p99Micros``, None above 4.3 s) and
              ``loader`` (``batches``, ``waitNanos`` of the loop for batches, ``idleNanos`` of batches for the loop,
              ``readNanos``, ``computeNanos``, ``stallShare`` and ``utilisation``);
            * ``outside``: reads served to other applications, by ``label``: ``channels``, ``requests``, ``rows`` and
              ``bytes``.

        Raises:
            TimeoutError: an executor does not answer.
        """
        statistics: dict[str, Any] = self._call("statistics")
        return statistics

    def handle(self) -> Handle:
        """Returns a handle for other processes, valid until the store ends or ``revoke("handle")``."""
        return Handle(self, self._call("handle"), False)

    def grant(self, label: str, expires_in: float | timedelta) -> Handle:
        """Returns a handle for other processes with an end.

        Args:
            label: name for :meth:`revoke`: 1 to 64 letters, digits, dots, underscores and hyphens.
            expires_in: duration in seconds, at least 0.001.
        """
        seconds = expires_in.total_seconds() if isinstance(expires_in, timedelta) else float(expires_in)
        if not 0.001 <= seconds <= 1e12:
            raise ValueError(f"expires_in {seconds} s outside [0.001, 1e12]")
        return Handle(self, self._call("grant", label=label, expiresInMs=round(seconds * 1000)), True)

    def grants(self) -> builtins.list[Grant]:
        """Returns the grants by label, also those that have ended or were revoked."""
        return [
            Grant(
                grant["label"],
                datetime.fromtimestamp(grant["expiresMs"] / 1000, timezone.utc) if "expiresMs" in grant else None,
                grant["isRevoked"],
            )
            for grant in self._call("grants")
        ]

    def revoke(self, label: str) -> builtins.list[str]:
        """Ends a grant: executors refuse its readers.

        Returns:
            The addresses of executors that did not confirm within about 30 s.
        """
        return [str(address) for address in self._call("revoke", label=label)]

    def run(
        self,
        train: Callable[[Rank], T],
        *,
        timeout: float | None = None,
        collective_timeout: float = 600.0,
        backend: str | None = None,
        profile: Any = None,
    ) -> builtins.list[T]:
        """Runs a function on every rank, each in a Python process beside its rows.

        The ranks start together, in one barrier stage, with torch.distributed ready if torch is installed. Lines that
        they print are shown with their rank: at once, or with Spark Connect at the end. If an executor is lost, the
        rows are restored and all ranks start again, for at most ``spark.ddstore.maxAttempts`` attempts;
        ``rank.attempt`` counts them. An exception of the function is not retried, unless its cause is the end of
        another process, or ``spark.ddstore.retryTaskExceptions`` is true. Ctrl-C ends all ranks and their children.

        Args:
            train: function of the rank, pickled; executors need the modules that it imports, and its own unless that is
                the main program.
            timeout: longest duration of the ranks in seconds, all attempts together; unlimited by default. The wait
                for lost executors before an attempt has the limits of Spark and of ``spark.ddstore.slotsTimeout``.
            collective_timeout: longest wait of a rank for others, in seconds.
            backend: of torch.distributed: ``gloo``, ``nccl`` or ``none``; by default nccl where each rank has a GPU.
            profile: resources of the stage, a ``pyspark.resource.ResourceProfile``.

        Returns:
            The results of all ranks, in rank order.

        Raises:
            RankError: the function has raised on a rank; the message has its traceback.
            TimeoutError: the ranks have not ended in time.
            StoreLostError: the last attempt has failed for another reason.
        """
        _run.check(train, timeout, collective_timeout, backend)
        return _run.Run(self, train, timeout, collective_timeout, backend, profile).results()

    def _describe(self) -> dict[str, Any]:
        described: dict[str, Any] = self._call("describe")
        return described

    def _call(self, command: str, **options: Any) -> Any:
        """Calls a method of the store in the driver: one row of a table, once per request."""
        reader = self._spark.read.format(_FORMAT).option("command", command).option("request", uuid.uuid4().hex)
        for key, value in options.items():
            reader = reader.option(key, value)
        row = _translated(lambda: reader.load(self._store_name).collect())[0]
        result = json.loads(row["result"])
        if "error" in result:
            raise _error(result["error"], result["message"])
        return result.get("value")


def _error(java: str, message: str) -> Exception:
    kind = _ERRORS.get(java, RuntimeError)
    if "ask the owner" in message:
        kind = PermissionError
    elif message.startswith("lost rows"):
        kind = StoreLostError
    elif message.startswith("dropped"):
        kind = ValueError
    return kind(_in_words_of_python(message))


def _check_name(name: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"name {name!r}: 1 to 128 letters, digits, _ and - are legal")
    return name


def _session(spark: SparkSession) -> SparkSession:
    """Returns the session, if this release of PySpark can have stores."""
    for what, version in (("PySpark", pyspark.__version__), ("Spark", spark.version)):
        if int(version.split(".")[0]) < 4:
            raise RuntimeError(
                f"{what} {version}: ddstore.spark needs 4.0 or later; the packages of 3.5 are built for Scala 2.12"
            )
    return spark


def _translated(call: Callable[..., Any], *arguments: Any) -> Any:
    """Calls Spark; raises Python's own errors for those that the caller can mend."""
    from pyspark.errors import AnalysisException, IllegalArgumentException

    try:
        return call(*arguments)
    except IllegalArgumentException as e:
        raise ValueError(_in_words_of_python(_message(e))) from None
    except AnalysisException as e:
        if re.search(r"(DATA_SOURCE|SCHEMA|CATALOG)_NOT_FOUND", str(e)) and "ddstore" in str(e):
            raise _no_jar() from None
        raise
    except Exception as e:
        if "DATA_SOURCE_NOT_FOUND" in str(e):
            raise _no_jar() from None
        raise _run.error_of_spark(e) from None


def _no_jar() -> RuntimeError:
    return RuntimeError(
        "the application has no data source ddstore: start Spark with --jars or spark.jars and the runtime jar "
        "ddstore-spark_2.13"
    )


def _message(error: Exception) -> str:
    """Returns the message of an error of Spark, without the classes of Java and its stack."""
    text = str(error).split("\n\nJVM stacktrace", 1)[0].strip()
    return re.sub(r"^(?:\([a-z.A-Z]+Exception\)|[a-z.]+\.[A-Za-z]+Exception:) ", "", text)


def _in_words_of_python(message: str) -> str:
    """Replaces options of the data source by arguments of Python."""

    def argument(match: re.Match[str]) -> str:
        option, _, column = match.group(1).partition(".")
        if option not in _OPTIONS:
            return match.group(0)
        return _OPTIONS[option] + (f"[{column!r}]" if column else "")

    message = re.sub(r'option "([\w.]+)"', argument, message)
    return message.replace("orderBy", "order_by").replace("fillNulls", "fill_nulls")
