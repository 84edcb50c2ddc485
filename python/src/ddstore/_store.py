# SPDX-License-Identifier: Apache-2.0
"""Stores, as another process sees them."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import addressof, byref, c_char, c_int, c_void_p, create_string_buffer
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._arrow import ArrowBatch
from .errors import HandleError, error_of

#: memory that is made for a ragged field before its size is known
_MOST_GUESSED_BYTES = 64 << 20

#: plans that are kept: each combination of fields and casts has one
_MOST_PLANS = 64

_LOG = logging.getLogger("ddstore")

_DTYPES: tuple[tuple[str, npt.DTypeLike], ...] = (
    ("bool", np.bool_),
    ("int8", np.int8),
    ("uint8", np.uint8),
    ("int16", np.int16),
    ("int32", np.int32),
    ("int64", np.int64),
    ("float16", np.float16),
    ("bfloat16", np.uint16),
    ("float32", np.float32),
    ("float64", np.float64),
)
_KINDS = ("fixed", "ragged", "string", "bytes")
_CASTS = {"float32": 9, "bfloat16": 8}

Indices = Sequence[int] | npt.NDArray[np.integer[Any]]
Cast = str | npt.DTypeLike | tuple[str | npt.DTypeLike, float]


@dataclass(frozen=True)
class Field:
    """A field of the records of a store.

    Attributes:
        name: its name.
        kind: ``fixed`` (each row has the shape), ``ragged`` (a row has any number of elements of the shape),
            ``string`` (UTF-8) or ``bytes``.
        dtype: element type; ``bfloat16`` comes as ``uint16``, because NumPy has no such type.
        shape: shape of a row, or of an element of a ragged field.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The type of arrays with values of this field."""
        return np.dtype(dict(_DTYPES)[self.dtype])


@dataclass(frozen=True)
class Ragged:
    """The values of a field whose rows differ in size.

    Attributes:
        values: elements of all rows, one row after the other; ``uint8`` of texts.
        offsets: int64, one more than rows: row i has ``values[offsets[i]:offsets[i + 1]]``.
        kind: kind of the field.
    """

    values: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    kind: str = "ragged"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Any:
        """Returns a row: an array that shares memory, a str, or bytes."""
        number = row + len(self) if row < 0 else row
        if not 0 <= number < len(self):
            raise IndexError(f"row {row} outside [0, {len(self)})")
        return _object(self.values[self.offsets[number] : self.offsets[number + 1]], self.kind, False)

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def tolist(self) -> list[Any]:
        """Returns all rows as objects."""
        return list(self)


Batch = dict[str, npt.NDArray[Any] | Ragged]


@dataclass(frozen=True)
class Statistics:
    """How the rows of a store were reached so far.

    Attributes:
        segments: parts of the store.
        mapped_segments: parts that are mapped memory of this host.
        mapped_rows: rows read from mapped memory.
        remote_rows: rows received over data ports.
    """

    segments: int
    mapped_segments: int
    mapped_rows: int
    remote_rows: int


class _Output:
    """A field of a batch, and its target of the call in C."""

    __slots__ = (
        "cast",
        "dtype",
        "element_bytes",
        "field",
        "fixed",
        "guess",
        "is_bfloat16",
        "last",
        "name",
        "scale",
        "shape",
        "target",
    )

    def __init__(self, target: c.Target, number: int, field: Field, cast: int, scale: float) -> None:
        target.field = number
        target.cast = cast
        target.scale = scale
        self.target = target
        self.field = field
        self.name = field.name
        self.fixed = field.kind == "fixed"
        self.shape = field.shape
        self.cast = cast
        self.scale = scale
        self.is_bfloat16 = (_DTYPES[cast - 1][0] if cast else field.dtype) == "bfloat16"
        self.dtype = np.dtype(_DTYPES[cast - 1][1]) if cast else field.numpy_dtype
        self.element_bytes = self.dtype.itemsize * math.prod(field.shape)
        #: elements of a row of a ragged field in the last batch, with some more, and of all its rows
        self.guess = 16.0
        self.last = 0

    def guessed(self, rows: int) -> int:
        """Returns how many elements of a ragged field a batch first has memory for: a long row must not decide."""
        most = max(_MOST_GUESSED_BYTES // max(1, self.element_bytes), 4 * self.last)
        return min(int(self.guess * rows), most) + 1


class _Plan:
    """Which fields a batch has, in which types."""

    def __init__(self, fields: list[tuple[int, Field, int, float]]) -> None:
        self.targets = (c.Target * max(1, len(fields)))()
        self.address = addressof(self.targets)
        self.count = len(fields)
        # Elements of the array share its memory; making them anew takes time at each call.
        self.outputs = [_Output(target, *field) for target, field in zip(self.targets, fields, strict=False)]
        self.names = [output.name for output in self.outputs]
        self.all_fixed = all(output.fixed for output in self.outputs)
        #: arrays of one row, for reads of single rows
        self.row: list[Any] | None = None


class Store:
    """The rows of a store, read through memory of this host or the data ports of other hosts.

    Made by :func:`attach`. For one thread at a time: a second one raises RuntimeError. A child process that was
    forked goes on with it; pickling keeps the path of the handle and opens it again.
    """

    def __init__(self, path: str, *, json: str | None = None, ports_only: bool = False, timeout: float = 60.0) -> None:
        self._path = path
        self._json = json
        self._flags = c.PORTS_ONLY if ports_only else 0
        self._timeout_ms = _milliseconds(timeout)
        self._reader: c_void_p | None = None
        self._error = c.Error()
        self._error_address = addressof(self._error)
        #: whether a thread reads: a token of it under the key 0
        self._busy: dict[int, object] = {}
        self._one = np.zeros(1, np.int64)
        self._plans: dict[Any, _Plan] = {}
        #: number of refreshes that changed the store
        self._changes = 0
        reader = c_void_p()
        if json is None:
            _check_file(path)
            code = c.library.dds_reader_open_file(os.fsencode(path), self._flags, byref(reader), byref(self._error))
        else:
            text = json.encode("utf-8")
            code = c.library.dds_reader_open(text, len(text), self._flags, byref(reader), byref(self._error))
        if code != c.OK:
            raise self._failure()
        self._reader = reader
        self._describe()
        reach = self.statistics()
        _LOG.info(
            "store %r: %d rows, %d of %d segments mapped",
            self._name,
            self._rows,
            reach.mapped_segments,
            reach.segments,
        )

    def _describe(self) -> None:
        reader = self._reader
        self._name: str = c.library.dds_reader_name(reader).decode("utf-8")
        self._digest: str = c.library.dds_reader_digest(reader).decode("utf-8")
        self._rows = int(c.library.dds_reader_rows(reader))
        fields = []
        for number in range(c.library.dds_reader_fields(reader)):
            info = c.library.dds_reader_field(reader, number).contents
            fields.append(
                Field(
                    info.name.decode("utf-8"),
                    _KINDS[info.kind - 1],
                    _DTYPES[info.dtype - 1][0],
                    tuple(info.shape[: info.dimensions]),
                )
            )
        self._schema = tuple(fields)
        self._numbers = {field.name: number for number, field in enumerate(fields)}

    def _probe(self) -> None:
        """Reads the first and the last row if rows are not mapped, for the errors."""
        reach = self.statistics()
        if reach.mapped_segments < reach.segments and self._rows > 0:
            self.get_batch([0, self._rows - 1], fields=[])

    def _failure(self) -> Exception:
        return error_of(self._error, self._path)

    def _alone(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function unless another call runs, of another thread or of a signal handler.

        A lock would stay locked if Ctrl-C came right after its acquire.
        """
        token = object()
        try:
            if self._busy.setdefault(0, token) is not token:
                raise RuntimeError(
                    f"the store of {self._path!r} is being read by another thread: attach once per thread"
                )
            return action(*arguments)
        finally:
            if self._busy[0] is token:
                del self._busy[0]

    def _open(self) -> c_void_p:
        if self._reader is None:
            raise ValueError(f"closed: store {self._name!r}")
        return self._reader

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes mappings and connections. No effect if it was closed."""
        self._alone(self._close)

    def _close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            c.library.dds_reader_close(reader)

    def __del__(self) -> None:
        reader, self._reader = getattr(self, "_reader", None), None
        if reader is not None:
            c.library.dds_reader_close(reader)

    def copy(self) -> Store:
        """Returns another reader of the store, for another thread."""
        return Store(
            self._path, json=self._json, ports_only=self._flags == c.PORTS_ONLY, timeout=self._timeout_ms / 1000
        )

    def __getstate__(self) -> dict[str, Any]:
        if self._json is not None:
            raise TypeError(
                f"store {self._name!r} was opened from a text with a key, which must not be pickled: save the handle, "
                "and attach to its path"
            )
        return {"path": self._path, "flags": self._flags, "timeout_ms": self._timeout_ms}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(  # type: ignore[misc]
            state["path"],
            ports_only=state["flags"] == c.PORTS_ONLY,
            timeout=state["timeout_ms"] / 1000,
        )

    def __repr__(self) -> str:
        state = "" if self._reader is not None else " (closed)"
        fields = ", ".join(
            f"{field.name} {field.dtype if field.kind in ('fixed', 'ragged') else field.kind}"
            + (str(list(field.shape)) if field.shape else "")
            for field in self._schema
        )
        return f"<ddstore.Store {self._name!r}: {self._rows} rows of {fields}{state}>"

    @property
    def name(self) -> str:
        """The name of the store."""
        return self._name

    @property
    def path(self) -> str:
        """The file of the handle; empty if it was opened from a text."""
        return self._path

    @property
    def digest(self) -> str:
        """The digest of all rows, in hexadecimal digits."""
        return self._digest

    @property
    def schema(self) -> tuple[Field, ...]:
        """The fields of a row."""
        return self._schema

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, index: int | slice | Indices) -> dict[str, Any]:
        """Returns one row by an integer, else a batch as :meth:`get_batch` by a slice or several indices.

        A row has an array or a NumPy scalar of each fixed field, an array of a ragged one, a str, or bytes.

        Raises:
            IndexError: the integer is outside [-len(store), len(store)).
        """
        if isinstance(index, slice):
            return self.get_batch(np.arange(*index.indices(self._rows), dtype=np.int64))
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
            return self.get_batch(index)  # type: ignore[arg-type]  # refuses a bool
        number = int(index) + self._rows if index < 0 else int(index)
        if not 0 <= number < self._rows:
            raise IndexError(f"row {int(index)} outside [0, {self._rows}) of {self._name!r}")
        row: dict[str, Any] = self._alone(self._row, number)
        return row

    def _row(self, number: int) -> dict[str, Any]:
        """Reads a row into memory that is kept for this, and copies it."""
        plan = self._plan(None, None)
        if plan.row is None:
            plan.row = self._prepare(plan, 1, None)
        arrays = plan.row
        for output, array in zip(plan.outputs, arrays, strict=True):
            _aim(output, array)
        self._one[0] = number
        self._read(plan, arrays, self._one, self._timeout_ms)
        row: dict[str, Any] = {}
        for output, array in zip(plan.outputs, arrays, strict=True):
            if output.fixed:
                row[output.name] = array[0].copy() if output.shape else array[0]
            else:
                values, offsets = array
                row[output.name] = _object(values[: offsets[1]], output.field.kind, True)
        return row

    def get_batch(
        self,
        indices: Indices,
        fields: Sequence[str] | str | None = None,
        out: Mapping[str, npt.NDArray[Any]] | None = None,
        cast: Mapping[str, Cast] | Cast | None = None,
        timeout: float | None = None,
    ) -> Batch:
        """Reads rows in any order, also several times. Blocks; the GIL is free meanwhile.

        Ctrl-C takes effect when the read ends: at once, unless an executor does not answer.

        Args:
            indices: global indices, one dimension.
            fields: names of the fields to read, all by default.
            out: arrays to write fixed fields into, C-contiguous, of the shape (rows, *shape) and the type of the
                result; without them arrays are made.
            cast: type to convert numbers to, ``float32`` or ``bfloat16`` (which comes as uint16), or a pair of
                type and factor: for all fields of the batch, or by name. From int8, uint8, int16, int32,
                bfloat16, float32 and float64.
            timeout: longest duration in seconds; that of :func:`attach` by default.

        Returns:
            Field name to array of the shape (rows, *shape), or to :class:`Ragged`.

        Raises:
            IndexError: an index is outside [0, len(store)).
            ValueError: another argument is not legal.
            TimeoutError: the rows have not arrived in time.
            StoreGoneError, StoreLostError, GrantError: see there.
        """
        timeout_ms = self._timeout_ms if timeout is None else _milliseconds(timeout)
        batch: Batch = self._alone(self._batch, self._plan(fields, cast), indices, out, timeout_ms)
        return batch

    def to_arrow(
        self, indices: Indices, fields: Sequence[str] | str | None = None, timeout: float | None = None
    ) -> ArrowBatch:
        """Reads rows as :meth:`get_batch` does, for the libraries that take Arrow's PyCapsule interface.

        >>> table = pyarrow.table(store.to_arrow([7, 3]))

        A shape of one dimension becomes a list of fixed size, one of several the extension
        ``arrow.fixed_shape_tensor``, a ragged field a large list, bfloat16 uint16.
        """
        timeout_ms = self._timeout_ms if timeout is None else _milliseconds(timeout)
        batch: ArrowBatch = self._alone(self._arrow, self._plan(fields, None), indices, timeout_ms)
        return batch

    def _arrow(self, plan: _Plan, indices: Indices, timeout_ms: int) -> ArrowBatch:
        rows = _as_indices(indices)
        numbers = np.array([output.target.field for output in plan.outputs], np.int32)
        pointer = c_void_p()
        code = c.library.dds_arrow_read(
            self._open(),
            address_of(rows),
            len(rows),
            address_of(numbers),
            len(numbers),
            timeout_ms,
            byref(pointer),
            self._error_address,
        )
        if code == c.INVALID_ARGUMENT:
            self._check_range(rows)
        if code != c.OK:
            raise self._failure()
        return ArrowBatch(pointer, len(rows))

    def _batch(self, plan: _Plan, indices: Indices, out: Any, timeout_ms: int) -> Batch:
        rows = _as_indices(indices)
        batch = self._prepare(plan, len(rows), out)
        self._read(plan, batch, rows, timeout_ms)
        return dict(zip(plan.names, batch, strict=True)) if plan.all_fixed else self._finish(plan, batch)

    def _read(self, plan: _Plan, batch: list[Any], rows: npt.NDArray[np.int64], timeout_ms: int) -> None:
        """Reads into the memory of the targets, and replaces what is too small of ragged fields."""
        reader = self._open()
        address = address_of(rows)
        while True:
            code = _get_batch(reader, address, len(rows), plan.address, plan.count, timeout_ms, self._error_address)
            if code == c.OK:
                return
            if code != c.TOO_SMALL:
                break
            self._enlarge(plan, batch)
        if code == c.INVALID_ARGUMENT:
            self._check_range(rows)
        raise self._failure()

    def _check_range(self, rows: npt.NDArray[np.int64]) -> None:
        outside = np.flatnonzero((rows < 0) | (rows >= self._rows))
        if len(outside) > 0:
            at = int(outside[0])
            raise IndexError(
                f"row {int(rows[at])} (number {at} of the batch) outside [0, {self._rows}) of {self._name!r}"
            )

    def _plan(self, fields: Sequence[str] | str | None, cast: Any) -> _Plan:
        key: Any = fields if fields is None or isinstance(fields, str) else tuple(fields)
        key = (key, tuple(sorted(cast.items())) if isinstance(cast, Mapping) else cast)
        try:
            return self._plans[key]
        except KeyError:
            pass
        except TypeError:
            raise ValueError(f"cast {cast!r}: a type, or a pair (type, factor), is legal, or these by field") from None
        names = [field.name for field in self._schema]
        chosen = names if fields is None else [fields] if isinstance(fields, str) else list(fields)
        casts = dict(cast) if isinstance(cast, Mapping) else dict.fromkeys(chosen, cast)
        for name in [*chosen, *casts]:
            if name not in self._numbers:
                raise ValueError(f"no field {name!r}: choose from {names}")
        if len(set(chosen)) != len(chosen):
            raise ValueError(f"fields {chosen}: each may come once")
        unread = sorted(set(casts) - set(chosen))
        if unread:
            raise ValueError(f"cast of {unread}, which are not read")
        plan = _Plan([(self._numbers[n], self._schema[self._numbers[n]], *_cast_of(n, casts.get(n))) for n in chosen])
        if len(self._plans) >= _MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        self._plans[key] = plan
        return plan

    def _prepare(self, plan: _Plan, rows: int, out: Mapping[str, npt.NDArray[Any]] | None) -> list[Any]:
        """Sets the memory of the targets; returns the arrays in the order of the fields."""
        given: list[Any] = []
        batch: list[Any] = []
        for output in plan.outputs:
            array: Any
            if out and output.name in out:
                array = out[output.name]
                _check_out(output, array, rows)
                given.append(array)
            elif output.fixed:
                array = np.empty((rows, *output.shape), output.dtype)
            else:
                values = np.empty((output.guessed(rows), *output.shape), output.dtype)
                array = (values, np.zeros(rows + 1, np.int64))
            _aim(output, array)
            batch.append(array)
        if out:
            if len(given) < len(out):
                raise ValueError(f"out has {sorted(set(out) - set(plan.names))}, which are not read")
            if len(given) > 1 and any(np.may_share_memory(one, other) for one, other in combinations(given, 2)):
                raise ValueError(f"out of {sorted(out)}: two arrays share memory")
        return batch

    def _enlarge(self, plan: _Plan, batch: list[Any]) -> None:
        for i, output in enumerate(plan.outputs):
            if not output.fixed:
                values, offsets = batch[i]
                needed = output.target.used_bytes // output.element_bytes
                if needed > len(values):
                    values = np.empty((needed, *output.shape), output.dtype)
                    batch[i] = (values, offsets)
                _aim(output, batch[i])

    def _finish(self, plan: _Plan, batch: list[Any]) -> Batch:
        result: Batch = {}
        for output, array in zip(plan.outputs, batch, strict=True):
            if output.fixed:
                result[output.name] = array
            else:
                values, offsets = array
                end = int(offsets[-1])
                if len(offsets) > 1:
                    output.guess = 1.25 * end / (len(offsets) - 1) + 1
                    output.last = end
                result[output.name] = Ragged(values[:end], offsets, output.field.kind)
        return result

    def statistics(self) -> Statistics:
        """Returns how the rows were reached so far."""
        reach = self._alone(lambda: c.library.dds_reader_reach(self._open()))
        return Statistics(reach.segments, reach.mapped_segments, reach.mapped_rows, reach.remote_rows)

    def refresh(self) -> bool:
        """Reads the file of the handle again. Returns whether the store has changed.

        After an append, a repair or the loss of an executor, a file that the driver keeps up to date has the new
        rows and places. After an error the store is as before.

        Raises:
            FileNotFoundError: the file is gone: the application that saved it may have ended.
            HandleError: the file is no handle of a store with the same fields.
        """
        return bool(self._alone(self._refresh))

    def _refresh(self) -> bool:
        changed = c_int()
        reader = self._open()
        if self._json is not None:
            raise ValueError(f"store {self._name!r} was opened from a text: only a file can be read again")
        _check_file(self._path)
        code = c.library.dds_reader_refresh(reader, byref(changed), byref(self._error))
        if code != c.OK:
            raise self._failure()
        if changed.value:
            self._changes += 1
            self._describe()
            _LOG.info("store %r: changed, %d rows", self._name, self._rows)
        return bool(changed.value)

    def _schema_digest(self) -> bytes:
        text = create_string_buffer(9)
        if self._alone(lambda: c.library.dds_schema_digest(self._open(), text, byref(self._error))) != c.OK:
            raise self._failure()
        return text.value


_INT64 = np.dtype(np.int64)
_get_batch = c.library.dds_reader_get_batch


def address_of(array: npt.NDArray[Any]) -> int:
    """Returns where a contiguous array begins. Takes a fifth of the time of array.ctypes.data."""
    try:
        return addressof(c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # read-only, or empty
        return int(array.__array_interface__["data"][0])


def _aim(output: _Output, array: Any) -> None:
    """Sets the memory of a target."""
    target = output.target
    if output.fixed:
        target.values = address_of(array)
        target.value_bytes = len(array) * output.element_bytes
    else:
        values, offsets = array
        target.values = address_of(values)
        target.value_bytes = values.nbytes
        target.offsets = address_of(offsets)


def _object(part: npt.NDArray[Any], kind: str, copied: bool) -> Any:
    """Returns a row of a field that is not fixed."""
    if kind == "string":
        return part.tobytes().decode("utf-8")
    if kind == "bytes":
        return part.tobytes()
    return part.copy() if copied else part


def _check_file(path: str) -> None:
    if os.path.isdir(path):
        raise HandleError(f"{path!r} is a folder, no handle")
    if not os.path.exists(path):
        raise FileNotFoundError(f"no handle {path!r}: the application that saved it may have ended")


def _milliseconds(timeout: float) -> int:
    if not 0 < timeout <= 1e9:
        raise ValueError(f"timeout {timeout} s outside (0, 1e9]")
    return max(1, round(timeout * 1000))


def _as_indices(indices: Indices) -> npt.NDArray[np.int64]:
    rows = np.asarray(indices)
    if rows.dtype is _INT64 and rows.ndim == 1 and rows.flags.c_contiguous:
        return rows
    if rows.shape == (0,):
        return np.empty(0, np.int64)
    if rows.dtype.kind not in "iu":
        raise ValueError(f"indices of type {rows.dtype}: integers are legal")
    if rows.ndim != 1:
        raise ValueError(f"indices of {rows.ndim} dimensions: one is legal")
    if rows.dtype == np.uint64 and rows.size > 0 and int(rows.max()) > np.iinfo(np.int64).max:
        raise IndexError(f"row {rows.max()} is no int64")
    return np.ascontiguousarray(rows, np.int64)


def _cast_of(name: str, cast: Any) -> tuple[int, float]:
    """Returns the code of a type and the factor; 0 for no cast."""
    if cast is None:
        return 0, 1.0
    to, scale = cast if isinstance(cast, tuple) else (cast, 1.0)
    text = to if isinstance(to, str) else np.dtype(to).name
    if text not in _CASTS:
        raise ValueError(f"cast of {name!r} to {text}: float32 and bfloat16 are legal")
    return _CASTS[text], float(scale)


def _check_out(output: _Output, array: Any, rows: int) -> None:
    name = output.name
    if not output.fixed:
        raise ValueError(f"out[{name!r}]: only fixed fields have one")
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise ValueError(f"out[{name!r}] is no NumPy array without a mask: {type(array).__name__}")
    if array.shape != (rows, *output.shape) or array.dtype != output.dtype:
        raise ValueError(
            f"out[{name!r}] of shape {array.shape} and type {array.dtype}: the rows need {(rows, *output.shape)} of"
            f" {output.dtype}"
        )
    flags = array.flags
    if not flags.c_contiguous or not flags.writeable:
        raise ValueError(f"out[{name!r}] is not contiguous and writeable")


def attach(path: str | os.PathLike[str] | None = None, *, ports_only: bool = False, timeout: float = 60.0) -> Store:
    """Opens the store of a handle.

    Maps the rows in memory of this host. If there are others, reads two over the ports of the executors, so that a
    store that is gone raises here. Later copies of the store, for other threads and processes, do not.

    Args:
        path: file of the handle; by default the one that the environment variable ``DDSTORE_HANDLE`` names.
        ports_only: whether to map nothing.
        timeout: longest duration of a read in seconds, unless it says another.

    Raises:
        FileNotFoundError: no such file: the application that saved it may have ended.
        HandleError: the file is no handle, or of another version.
        StoreGoneError: the store was dropped.
        StoreLostError: rows can be reached neither by memory nor over a port.
        GrantError: the grant of the handle has ended or was revoked.
        TimeoutError: an executor does not answer.
    """
    if path is None:
        path = os.environ.get("DDSTORE_HANDLE")
    if not path:
        raise ValueError("no path of a handle: give one, or set DDSTORE_HANDLE")
    return probed(Store(os.path.abspath(os.fspath(path)), ports_only=ports_only, timeout=timeout))


def probed(store: Store) -> Store:
    """Returns a store whose rows can be reached; else closes it and raises."""
    try:
        store._probe()
    except BaseException:
        store.close()
        raise
    return store
