# SPDX-License-Identifier: Apache-2.0
"""The driver's side of a run: attempts, deadline, output and errors of the ranks."""

from __future__ import annotations

import base64
import builtins
import contextlib
import hmac
import json
import logging
import re
import secrets
import socket
import sys
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import _ranks
from .errors import StoreLostError

if TYPE_CHECKING:
    from .spark import ResidentStore

_LOG = logging.getLogger("ddstore")

_SCHEMA = "rank int, home string, executor string, result binary, output string"
_FAILURE = re.compile(re.escape(_ranks.FAILURE) + r"([A-Za-z0-9_=-]+)")
#: failures that another attempt does not change, or that are wanted
_FINAL = re.compile(
    r"maxResultSize|Job \d+ cancelled|OPERATION_CANCELED|SparkContext was shut down|PYTHON_VERSION_MISMATCH"
)
_MAX_LINE = 1 << 20
_MAX_FAILURE = 1 << 20
_DRAIN_S = 5.0


class RankError(RuntimeError):
    """The function of a rank has raised.

    Attributes:
        rank: number of the rank.
        type_name: name of the class of its exception.
        traceback: its traceback, as text.
        of_peer: whether the end of another process is the likely cause.
    """

    def __init__(self, rank: int, type_name: str, message: str, traceback: str, of_peer: bool) -> None:
        super().__init__(f"rank {rank}: {type_name}: {message}\n\n{traceback}")
        self.rank = rank
        self.type_name = type_name
        self.traceback = traceback
        self.of_peer = of_peer
        self._message = message

    def __reduce__(self) -> Any:
        return RankError, (self.rank, self.type_name, self._message, self.traceback, self.of_peer)


def is_remote(spark: Any) -> bool:
    """Returns whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def check(train: Any, timeout: float | None, collective_timeout: float, backend: str | None) -> None:
    if not callable(train):
        raise TypeError(f"train {train!r}: a function of one argument, the rank, is legal")
    for name, value in (("timeout", timeout), ("collective_timeout", collective_timeout)):
        if value is not None and not 0 < value <= 1e9:
            raise ValueError(f"{name} {value} s outside (0, 1e9]")
    if backend is not None and (not isinstance(backend, str) or not backend):
        raise ValueError(f"backend {backend!r}: gloo, nccl, none, or another of torch.distributed")


class Run:
    """One call of :meth:`ddstore.spark.ResidentStore.run`."""

    def __init__(
        self,
        store: ResidentStore,
        train: Callable[[Any], Any],
        timeout: float | None,
        collective_timeout: float,
        backend: str | None,
        profile: Any,
    ) -> None:
        from pyspark import cloudpickle

        self._store = store
        self._spark: Any = store._spark
        try:
            self._train = cloudpickle.dumps(train)
        except Exception as e:
            raise TypeError(f"train {train!r} cannot be pickled: {e}") from e
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._timeout = timeout
        self._collective_timeout = collective_timeout
        self._backend = backend
        self._profile = profile

    def results(self) -> list[Any]:
        from pyspark import cloudpickle

        attempt = 0
        while True:
            attempt += 1
            with self._cancellation():
                plan = self._store._call("prepare", attempt=attempt)
            try:
                rows = self._attempt(attempt)
                break
            except TimeoutError:
                raise
            except RankError as e:
                if not (e.of_peer or plan["retryTaskExceptions"]) or attempt >= plan["maxAttempts"]:
                    raise
                failure: Exception = e
            except Exception as e:
                text = str(e)
                if "No module named 'ddstore'" in text:
                    raise RuntimeError(
                        "the executors have no package ddstore: install it there, or send it with the application, see "
                        "docs/pyspark.md"
                    ) from None
                if "Job aborted" not in text and not _FINAL.search(text):
                    raise  # not a failure of the ranks
                if attempt >= plan["maxAttempts"] or _FINAL.search(text):
                    raise StoreLostError(
                        f"attempt {attempt} of {plan['maxAttempts']} on {plan['ranks']} ranks of store "
                        f"{self._store.name!r} has failed: {_first_line(e)}"
                    ) from e
                failure = e
            _LOG.warning(
                "store %r: attempt %d of %d has failed, the ranks start again: %s",
                self._store.name,
                attempt,
                plan["maxAttempts"],
                _first_line(failure),
            )
        rows.sort(key=lambda row: row["rank"])
        for row in rows:
            for line in row["output"].splitlines():
                _show(row["rank"], line)
            if row["home"] != row["executor"]:
                _LOG.warning(
                    "store %r: rank %d ran on executor %s, away from its shard on executor %s",
                    self._store.name,
                    row["rank"],
                    row["executor"],
                    row["home"],
                )
        results = []
        for row in rows:
            try:
                results.append(cloudpickle.loads(row["result"]))
            except Exception as e:
                raise RuntimeError(
                    f"the result of rank {row['rank']} cannot be read here: {type(e).__name__}: {e}; return tensors of "
                    "the CPU, and types that the driver has"
                ) from e
        return results

    def _attempt(self, attempt: int) -> builtins.list[Any]:
        output = None if is_remote(self._spark) else _Receiver.open(self._spark)
        with output or contextlib.nullcontext():
            body = _ranks.Body(
                self._train,
                self._store.name,
                attempt,
                self._collective_timeout,
                self._backend,
                None if output is None else output.address,
            )
            places = self._spark.read.format("ddstore").option("command", "ranks").load(self._store.name)
            ranks = places.mapInArrow(body, _SCHEMA, barrier=True, profile=self._profile)
            with self._cancellation() as cancelled:
                try:
                    rows: builtins.list[Any] = ranks.collect()
                    return rows
                except Exception as e:
                    found = _FAILURE.search(str(e))
                    if found is not None:
                        raise _decoded(found.group(1)) from None
                    if cancelled.is_set():
                        raise TimeoutError(
                            f"the ranks of store {self._store.name!r} have not ended in {self._timeout} s"
                        ) from None
                    if "Job aborted" not in str(e):
                        raise error_of_spark(e) from None
                    raise

    @contextlib.contextmanager
    def _cancellation(self) -> Iterator[threading.Event]:
        """Cancels the jobs that this thread starts meanwhile: at the deadline, and after an interrupt.

        Yields:
            An event that is set at the deadline.
        """
        tag = f"ddstore-{uuid.uuid4().hex}"
        remote = is_remote(self._spark)
        context = None if remote else self._spark.sparkContext
        add, remove, cancel = (
            (self._spark.addTag, self._spark.removeTag, self._spark.interruptTag)
            if context is None
            else (context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)
        )
        passed = threading.Event()
        ended = threading.Event()

        def cancel_until_ended(delay_s: float, limit_s: float) -> None:
            """Cancels repeatedly: a job that starts after a call is not cancelled by it."""
            if ended.wait(delay_s):
                return
            passed.set()
            for _ in range(int(limit_s)):
                with contextlib.suppress(Exception):
                    cancel(tag)
                if ended.wait(1.0):
                    return

        if self._deadline is not None:
            delay_s = max(0.0, self._deadline - time.monotonic())
            threading.Thread(target=cancel_until_ended, args=(delay_s, 60.0), name="ddstore-run", daemon=True).start()
        add(tag)
        try:
            yield passed
            ended.set()
        except Exception:
            ended.set()
            raise
        except BaseException:  # Ctrl-C: the call in the JVM goes on
            threading.Thread(target=cancel_until_ended, args=(0.0, 10.0), name="ddstore-run", daemon=True).start()
            raise
        finally:
            with contextlib.suppress(Exception):
                remove(tag)


def error_of_spark(error: Exception) -> Exception:
    """Returns Python's own error of one of ours in a message of Spark; else the error itself."""
    from .spark import _error

    cause = re.search(r"org\.ddstore\.[\w.]*?(\w+Exception): (.*)", str(error))
    return error if cause is None else _error(cause.group(1), cause.group(2))


def _decoded(word: str) -> Exception:
    """Returns the failure of a rank, which is as trustworthy as the ranks are."""
    try:
        text = zlib.decompressobj().decompress(base64.urlsafe_b64decode(word), _MAX_FAILURE)
        failure = json.loads(text)
        for line in failure["output"].splitlines():
            _show(failure["rank"], line)
        return RankError(failure["rank"], failure["type"], failure["message"], failure["traceback"], failure["ofPeer"])
    except (ValueError, KeyError, zlib.error):
        return RuntimeError("a rank has failed; its error is cut off, see the logs of the executors")


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    reason = re.search(r"ExecutorLostFailure[^\n]*|Python worker exited[^\n]*", str(error))
    return reason.group(0) if reason else lines[0] if lines else type(error).__name__


_SHOWING = threading.Lock()


def _show(rank: int, line: str) -> None:
    text = line.rstrip("\r\n")
    if text or not line.endswith("\r"):  # a progress bar begins with "\r"
        with _SHOWING:
            sys.stdout.write(f"[rank {rank}] {text}" + ("\r" if line.endswith("\r") else "\n"))
            sys.stdout.flush()


class _Receiver:
    """A server in the driver that shows the lines of ranks as they come, for classic sessions."""

    def __init__(self, server: socket.socket, host: str) -> None:
        self._server = server
        self._token = secrets.token_hex(16)
        self.address: tuple[str, int, str] = (host, int(server.getsockname()[1]), self._token)
        self._threads: builtins.list[threading.Thread] = []
        self._sockets: builtins.list[socket.socket] = []

    @classmethod
    def open(cls, spark: Any) -> _Receiver | None:
        """Opens it at the driver's address; None if this process is not there."""
        host = spark.sparkContext.getConf().get("spark.driver.host", "localhost")
        try:
            return cls(socket.create_server((host.strip("[]"), 0)), host.strip("[]"))
        except OSError as e:
            _LOG.info("output of the ranks is shown at the end: no port at %s: %s", host, e)
            return None

    def __enter__(self) -> _Receiver:
        self._accepter = threading.Thread(target=self._accept, name="ddstore-ranks", daemon=True)
        self._accepter.start()
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        deadline = time.monotonic() + _DRAIN_S
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # ends accept
        self._server.close()
        self._accepter.join(1.0)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        for connection in self._sockets:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self._sockets.append(connection)
            thread = threading.Thread(target=self._read, args=(connection,), name="ddstore-output", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _read(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(10.0)
            with connection.makefile("r", encoding="utf-8", errors="replace", newline="") as lines:
                token, _, rank = lines.readline(100).strip().partition(" ")
                if not hmac.compare_digest(token.encode(), self._token.encode()) or not rank.isdigit():
                    return
                connection.settimeout(None)
                while line := lines.readline(_MAX_LINE):
                    _show(int(rank), line)
        except (OSError, ValueError):
            pass  # the rank has ended
