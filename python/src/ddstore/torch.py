# SPDX-License-Identifier: Apache-2.0
"""Batches of a store as tensors of PyTorch.

:func:`loader` reads ahead with threads of this process. :class:`StoreDataset` and :class:`BatchSampler` are for a
``torch.utils.data.DataLoader`` and its worker processes. Both continue exactly where a saved state was, also one of
Java, or of another number of ranks with the same global batch.
"""

from __future__ import annotations

import logging
import math
import os
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import c_char_p
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import torch.utils.data

from . import _library as c
from ._store import Cast, Ragged, Store
from .errors import StoreLostError
from .samplers import Epoch, Receipt, Sampler, resume_state, write_state

_LOG = logging.getLogger("ddstore")

_TORCH = {
    "bool": torch.bool,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "float16": torch.float16,
    "float32": torch.float32,
    "float64": torch.float64,
}


class RaggedTensor(NamedTuple):
    """Values of rows that differ in size: row i has ``values[offsets[i]:offsets[i + 1]]``."""

    values: torch.Tensor
    offsets: torch.Tensor


#: Field name to tensor of the shape (rows, *shape), to :class:`RaggedTensor`, or to :class:`ddstore.Ragged` of texts.
Tensors = dict[str, Any]


def _tensor(array: npt.NDArray[Any], is_bfloat16: bool) -> torch.Tensor:
    """Returns a tensor that shares the memory of an array."""
    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if is_bfloat16 else torch.from_numpy(array)


def _read(
    store: Store,
    rows: Any,
    fields: Sequence[str] | str | None,
    cast: Mapping[str, Cast] | Cast | None,
    pin: bool,
) -> Tensors:
    """Reads a batch into tensors, without a further copy unless a ragged field is to be pinned."""
    plan = store._plan(fields, cast)
    pinned = {output.name: _pinned(output, len(rows)) for output in plan.outputs if output.fixed} if pin else {}
    out = {name: array for name, (array, _) in pinned.items()} if pin else None
    batch = store._alone(store._batch, plan, rows, out, store._timeout_ms)
    tensors: Tensors = {}
    for output in plan.outputs:
        name = output.name
        value: Any = batch[name]
        if output.fixed:
            value = pinned[name][1] if pin else _tensor(value, output.is_bfloat16)
        elif value.kind == "ragged":
            ragged = RaggedTensor(_tensor(value.values, output.is_bfloat16), torch.from_numpy(value.offsets))
            value = RaggedTensor(*(part.pin_memory() for part in ragged)) if pin else ragged
        tensors[name] = value
    return tensors


def _pinned(output: Any, rows: int) -> tuple[npt.NDArray[Any], torch.Tensor]:
    """Returns pinned memory for a fixed field, as an array and as a tensor."""
    kind = torch.int16 if output.is_bfloat16 else _TORCH[output.dtype.name]
    tensor = torch.empty((rows, *output.shape), dtype=kind, pin_memory=True)
    array = tensor.numpy().view(output.dtype)
    return array, tensor.view(torch.bfloat16) if output.is_bfloat16 else tensor


def _each_tensor(value: Any, function: Callable[[torch.Tensor], Any]) -> Any:
    """Applies a function to the tensors in dictionaries, lists and tuples."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        return {name: _each_tensor(part, function) for name, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_each_tensor(part, function) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_each_tensor(part, function) for part in value)
    return value


def _java_hex(scale: float) -> str:
    """Returns a float32 as Float.toHexString of Java does, for states."""
    value = float(np.float32(scale))
    is_subnormal = 0 < abs(value) < 2.0**-126
    mantissa, exponent = (math.ldexp(value, 126 - 1022) if is_subnormal else value).hex().split("p")
    digits = mantissa.rstrip("0")
    return f"{digits}{'0' if digits.endswith('.') else ''}p{-126 if is_subnormal else int(exponent)}"


class _Progress:
    """The position of this rank's consumer: batches that it got, and their samples for the receipt."""

    def __init__(
        self,
        store: Store,
        sampler: Sampler,
        fields: Sequence[str] | str | None,
        cast: Mapping[str, Cast] | Cast | None,
    ) -> None:
        self.store = store
        self.sampler = sampler
        self._outputs = store._plan(fields, cast).outputs
        self._current: Epoch | None = None
        self._digest = store.digest
        self._batch = 0
        self._resume_epoch: int | None = None
        #: number of loops that were begun or ended by load_state_dict
        self._loop = 0
        self._length: tuple[int, int, int] | None = None
        #: Number of samples at the end of the last batch that only pad it, and have no weight.
        self.padding = 0
        #: Global indices of the rows of the last batch.
        self.rows = np.zeros(0, np.int64)

    def __len__(self) -> int:
        """Returns the number of batches of this rank in the present epoch, also of an epoch to resume."""
        key = (self.sampler.epoch, len(self.store))
        if self._length is None or self._length[:2] != key:
            self._length = (*key, len(self.sampler.batches(len(self.store))))
        return self._length[2]

    def set_epoch(self, epoch: int) -> None:
        """Sets the number of the next epoch. No effect on a position to resume in this epoch."""
        self.sampler.set_epoch(epoch)

    def _begin(self) -> tuple[Epoch, int]:
        """Begins the epoch of the sampler; returns it and the number of its first batch."""
        self._loop += 1
        epoch = self.sampler.batches(len(self.store))
        first = self._batch if self._resume_epoch == epoch.number else 0
        if first > len(epoch):
            raise ValueError(f"batch {first} of epoch {epoch.number} outside [0, {len(epoch)}]")
        epoch.resume(first)
        self._resume_epoch = None
        self._current = epoch
        self._digest = self.store.digest
        self._batch = first
        return epoch, first

    def _delivered(self, epoch: Epoch, batch: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]) -> None:
        self.rows, samples, padding = batch
        epoch._deliver(samples, padding)
        self.padding = padding
        self._batch += 1

    def _completed(self, epoch: Epoch) -> None:
        if self.sampler.epoch == epoch.number:
            self.sampler.set_epoch(epoch.number + 1)

    def receipt(self, all_reduce: Any = None) -> Receipt:
        """Checks the epoch that was read last, as :meth:`ddstore.samplers.Epoch.receipt`. Collective."""
        if self._current is None:
            raise ValueError("no epoch was read")
        return self._current.receipt(all_reduce)

    def _state(self, epoch: int, batch: int, rows: int, digest: str) -> c.State:
        names = [output.name for output in self._outputs]
        casts = [
            f'cast("{output.name}", {"bfloat16" if output.is_bfloat16 else "float32"}, {_java_hex(output.scale)})'
            for output in self._outputs
            if output.cast
        ]
        return c.State(
            epoch=epoch,
            batch=batch,
            rows=rows,
            version=0,
            sampling=self.sampler.describe().encode(),
            schema=self.store._schema_digest(),
            digest=digest.encode(),
            fields=_choice([] if len(names) == len(self.store.schema) else names),
            casts=_choice(casts),
        )

    def state_dict(self) -> dict[str, str]:
        """Returns the position after the last batch that the loop got: a line of JSON, as in Java."""
        epoch = self._current
        number = self.sampler.epoch
        if self._resume_epoch is None and epoch is not None and epoch.number == number:
            state = self._state(number, self._batch, epoch.rows, self._digest)
        else:
            batch = self._batch if self._resume_epoch == number else 0
            state = self._state(number, batch, len(self.store), self.store.digest)
        return {"ddstore": write_state(state)}

    def load_state_dict(self, state: Mapping[str, str]) -> None:
        """Continues at a position from the next loop on. A loop that has not ended yet raises from now on.

        Raises:
            ValueError: the position is one in other rows, or of another configuration; the message says which.
        """
        here = self._state(0, 0, len(self.store), self.store.digest)
        epoch, batch = resume_state(state["ddstore"], here)
        self._interrupt()
        self._batch = batch
        self.sampler.set_epoch(epoch)
        self._resume_epoch = epoch

    def _interrupt(self) -> None:
        """Ends the running loop, if any: its batches do not count from now on."""
        self._loop += 1


def _choice(texts: list[str]) -> c.Choice:
    array = (c_char_p * len(texts))(*[text.encode() for text in texts])
    return c.Choice(array, len(texts))


class _Reads:
    """Reads of batches, each with a reader that no other thread uses meanwhile."""

    def __init__(
        self,
        store: Store,
        fields: Sequence[str] | str | None,
        cast: Mapping[str, Cast] | Cast | None,
        transform: Callable[[Tensors], Any] | None,
        pin: bool,
        device: torch.device | None,
    ) -> None:
        self._store = store
        self._fields = fields
        self._cast = cast
        self._transform = transform
        self._pin = pin
        self._device = device
        self._stream = torch.cuda.Stream(device) if device is not None and device.type == "cuda" else None
        self._idle: list[Store] = []
        self._changes = store._changes

    def default_prefetch(self) -> int:
        reach = self._store.statistics()
        only_copies = reach.mapped_segments == reach.segments and self._transform is None and self._device is None
        return 0 if only_copies else 2

    def ahead(self, rows: npt.NDArray[np.int64]) -> tuple[Any, Any]:
        """Reads on a thread of the loader; returns the batch and the event after which it is on the device."""
        try:
            reader = self._idle.pop()
        except IndexError:
            reader = self._store.copy()
        try:
            return self.read(reader, rows)
        finally:
            self._idle.append(reader)

    def read(self, reader: Store, rows: npt.NDArray[np.int64]) -> tuple[Any, Any]:
        batch: Any = _read(reader, rows, self._fields, self._cast, self._pin)
        if self._transform is not None:
            try:
                batch = self._transform(batch)
            except StopIteration as e:
                raise RuntimeError("the transform raised StopIteration") from e
        if self._device is None:
            return batch, None
        if self._stream is None:
            return _each_tensor(batch, lambda tensor: tensor.to(self._device)), None
        with torch.cuda.stream(self._stream):
            batch = _each_tensor(batch, lambda tensor: tensor.to(self._device, non_blocking=True))
            return batch, self._stream.record_event()

    def hand_out(self, batch: Any, event: Any) -> Any:
        """Lets the stream of the consumer wait for the copy, and keeps its memory until that stream is done."""
        if event is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(event)
            _each_tensor(batch, lambda tensor: tensor.record_stream(stream))
        return batch

    def refresh(self) -> None:
        """Closes readers of an earlier state of the store. No thread reads."""
        if self._changes != self._store._changes:
            self.close()
            self._changes = self._store._changes

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


_COMPLETE = "complete"


class _Iteration:
    """The batches of one epoch, from one on. Ends its threads when it is closed, complete, or out of reach."""

    def __init__(self, loader: Loader, epoch: Epoch, first: int) -> None:
        self._loader = loader
        self._epoch = epoch
        self._next = first
        self._end = len(epoch)
        self._pending: deque[tuple[Future[Any], Any]] = deque()
        self._over: str | None = None  # no exception, whose traceback would keep the frames of the loop
        self._prefetch = loader._reads.default_prefetch() if loader._prefetch is None else loader._prefetch
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(loader._threads, "ddstore-loader") if self._prefetch > 0 else None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._over == _COMPLETE:
            raise StopIteration
        if self._over is not None:
            raise RuntimeError(self._over)
        if self._pool is not None and os.getpid() != self._process:
            raise RuntimeError(
                "the threads of this loop stayed in the process that forked this one: begin another loop here"
            )
        try:
            taken = self._take()
        except Exception as e:
            self.close(f"the loop has ended with {type(e).__name__}: {e}")
            raise
        if taken is None:
            self.close(_COMPLETE)
            self._loader._completed(self._epoch)
            raise StopIteration
        batch, event, places = taken
        self._loader._delivered(self._epoch, places)
        return self._loader._reads.hand_out(batch, event)

    def _take(self) -> tuple[Any, Any, Any] | None:
        """Returns the next batch, its event, and its rows, samples and padding; None at the end of the epoch."""
        reads = self._loader._reads
        epoch = self._epoch
        if self._pool is None:
            if self._next == self._end:
                return None
            places = epoch.batch(self._next)
            batch, event = reads.read(self._loader.store, places[0])
            self._next += 1
            return batch, event, places
        while self._next < self._end and len(self._pending) <= self._prefetch:
            places = epoch.batch(self._next)
            self._next += 1
            self._pending.append((self._pool.submit(reads.ahead, places[0]), places))
        if not self._pending:
            return None
        future, places = self._pending[0]
        batch, event = future.result()
        self._pending.popleft()  # not before: an interrupt of the wait loses no batch
        return batch, event, places

    def close(
        self, reason: str = "this loop has ended: its loader was closed, began another, or loaded a state"
    ) -> None:
        """Ends the threads, after the reads that they have begun."""
        self._over = reason
        for future, _ in self._pending:
            future.cancel()
        self._pending.clear()
        if self._pool is not None:
            self._pool.shutdown()

    def __del__(self) -> None:
        if getattr(self, "_pool", None) is not None and self._over is None:
            self.close()


class Loader(_Progress):
    """The batches of this rank, epoch after epoch. Made by :func:`loader`. For one thread.

    >>> for batch in loader:
    ...     train(batch["x"])
    ...     state = loader.state_dict()

    A loop yields the epoch of the sampler, from the position to resume with; the next loop yields the next epoch. A
    loop that is left early ends its threads, and the next one begins the epoch again; to go on instead, also after an
    error, call ``loader.load_state_dict(loader.state_dict())`` before.
    """

    def __init__(
        self,
        store: Store,
        sampler: Sampler,
        fields: Sequence[str] | str | None,
        cast: Mapping[str, Cast] | Cast | None,
        prefetch: int | None,
        threads: int,
        reads: _Reads,
    ) -> None:
        super().__init__(store, sampler, fields, cast)
        self._prefetch = prefetch
        self._threads = threads
        self._reads = reads
        self._running: weakref.ref[_Iteration] | None = None

    def __iter__(self) -> Iterator[Any]:
        """Begins the epoch of the sampler; a loop that has not ended yet raises from now on."""
        self._stop()
        self._reads.refresh()
        iteration = _Iteration(self, *self._begin())
        self._running = weakref.ref(iteration)
        return iteration

    def _interrupt(self) -> None:
        self._stop()

    def _stop(self) -> None:
        running = None if self._running is None else self._running()
        if running is not None:
            running.close()
        self._running = None

    def close(self) -> None:
        """Ends the threads, and closes their readers, not the store. A later loop opens them again."""
        self._stop()
        self._reads.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def loader(
    store: Store,
    sampler: Sampler,
    fields: Sequence[str] | str | None = None,
    cast: Mapping[str, Cast] | Cast | None = None,
    transform: Callable[[Tensors], Any] | None = None,
    prefetch: int | None = None,
    threads: int = 1,
    pin_memory: bool = False,
    device: torch.device | str | None = None,
) -> Loader:
    """Returns an iterable over the batches of this rank, read ahead by threads of this process.

    Args:
        store: the store; only the thread of the loop uses its reader.
        sampler: which rows, see :mod:`ddstore.samplers`; its epoch counts on at the end of each loop.
        fields: names of the fields to read, all by default.
        cast: as for :meth:`ddstore.Store.get_batch`; bfloat16 comes as ``torch.bfloat16``.
        transform: called on a thread with the tensors of a batch by name; its result is what is handed out.
        prefetch: batches that are read ahead; 0 to read on the thread of the loop. By default 0 if all rows are mapped
            and there is neither a transform nor a device, because a thread then takes longer to wake than a batch to
            copy; else 2.
        threads: threads that read, each with a reader of its own.
        pin_memory: whether tensors are in pinned memory, for transfers to a device; ignored without CUDA.
        device: device that tensors are copied to; for CUDA through pinned memory on a stream of its own.

    Raises:
        ValueError: an argument is outside of its range.
    """
    if (prefetch is not None and prefetch < 0) or threads < 1:
        raise ValueError(f"prefetch {prefetch} must be at least 0, threads {threads} at least 1")
    target = None if device is None else torch.device(device)
    pin = pin_memory or (target is not None and target.type == "cuda")
    if pin and not torch.cuda.is_available():
        _LOG.warning("loader of %r: pin_memory is ignored without CUDA", store.name)
        pin = False
    reads = _Reads(store, fields, cast, transform, pin, target)
    return Loader(store, sampler, fields, cast, prefetch, threads, reads)


class StoreDataset(torch.utils.data.Dataset):
    """The rows of a store, for a ``DataLoader``. Worker processes may be forked or spawned.

    >>> dataset = StoreDataset(store, fields=["x", "y"])
    >>> batches = BatchSampler(dataset, ddstore.samplers.shuffled(42, batch_size=1024))
    >>> loader = DataLoader(dataset, sampler=batches, batch_size=None, num_workers=2)

    With ``batch_size=None`` each batch of the sampler is one read. With a ``batch_sampler`` or a ``batch_size``, give
    ``collate_fn=dataset.collate_fn``: a batch is one read where torch has ``__getitems__``, else one read a row.

    Args:
        store: the store; each worker process opens its handle, or goes on with the mappings of its parent.
        fields: names of the fields to read, all by default.
        cast: as for :meth:`ddstore.Store.get_batch`.
    """

    def __init__(
        self,
        store: Store,
        fields: Sequence[str] | str | None = None,
        cast: Mapping[str, Cast] | Cast | None = None,
    ) -> None:
        store._plan(fields, cast)
        self.store = store
        self.fields = fields
        self.cast = cast

    def __len__(self) -> int:
        return len(self.store)

    def __getitem__(self, index: Any) -> Tensors:
        """Returns the tensors of a row for an integer, else those of a batch."""
        if isinstance(index, slice):
            return self.__getitems__(np.arange(*index.indices(len(self)), dtype=np.int64))
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
            return self.__getitems__(index)
        number = int(index) + len(self) if index < 0 else int(index)
        if not 0 <= number < len(self):
            raise IndexError(f"row {int(index)} outside [0, {len(self)}) of {self.store.name!r}")
        batch = self.__getitems__([number])
        return {name: value.values if isinstance(value, RaggedTensor) else value[0] for name, value in batch.items()}

    def __getitems__(self, indices: Any) -> Tensors:
        """Returns the tensors of a batch by field: (rows, *shape), :class:`RaggedTensor`, or Ragged of texts."""
        rows = indices.numpy() if isinstance(indices, torch.Tensor) else indices
        store = self.store
        try:
            return _read(store, rows, self.fields, self.cast, False)
        except (StoreLostError, IndexError):
            # A worker that lives for several epochs learns in no other way that rows were restored or appended.
            digest, count = store.digest, len(store)
            if not store.refresh() or (store.digest != digest and len(store) <= count):
                raise
            return _read(store, rows, self.fields, self.cast, False)

    def collate_fn(self, batch: Any) -> Tensors:
        """Returns a batch of :meth:`__getitems__` as it is, or makes one of several rows."""
        if isinstance(batch, dict):
            return batch
        kinds = {field.name: field.kind for field in self.store.schema}
        result: Tensors = {}
        for name in batch[0]:
            rows = [row[name] for row in batch]
            if kinds[name] == "fixed":
                result[name] = torch.stack(rows)
                continue
            parts = rows if kinds[name] == "ragged" else [np.frombuffer(_bytes(row), np.uint8) for row in rows]
            offsets = np.zeros(len(rows) + 1, np.int64)
            np.cumsum([len(part) for part in parts], out=offsets[1:])
            if kinds[name] == "ragged":
                result[name] = RaggedTensor(torch.cat(parts), torch.from_numpy(offsets))
            else:
                result[name] = Ragged(np.concatenate(parts), offsets, kinds[name])
        return result


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


class BatchSampler(_Progress, torch.utils.data.Sampler):
    """The batches of this rank as indices, for a ``DataLoader``. Runs in the main process.

    The workers of a ``DataLoader`` are ahead of the loop by several batches, so this sampler cannot know which ones
    the loop got. :meth:`deliver` counts them:

    >>> for batch in batches.deliver(loader):
    ...     train(batch["x"])
    ...     state = batches.state_dict()

    A worker that ends early raises in the body of the loop, because torch learns of it by a signal: resume with the
    last state that the loop itself has taken.

    Args:
        dataset: the rows, and the fields of the state.
        sampler: which rows, see :mod:`ddstore.samplers`.
    """

    def __init__(self, dataset: StoreDataset, sampler: Sampler) -> None:
        _Progress.__init__(self, dataset.store, sampler, dataset.fields, dataset.cast)
        self._first = 0
        self._is_counted = True

    def __iter__(self) -> Iterator[npt.NDArray[np.int64]]:
        """Yields the batches of the epoch of the sampler, from the one to resume with.

        The epoch begins with the first batch: a ``DataLoader`` with workers makes an iterator that it never uses.
        """
        epoch, self._first = self._begin()
        self._is_counted = False
        for number in range(self._first, len(epoch)):
            yield epoch[number]

    def deliver(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Yields the batches of a ``DataLoader`` of this sampler, and counts them for states and receipts.

        The next epoch follows at its end.

        Raises:
            ValueError: the loader has another sampler, or does not keep the order of the batches.
            RuntimeError: meanwhile another loop was begun, or a state loaded.
        """
        if getattr(loader, "in_order", True) is False:
            raise ValueError("a DataLoader with in_order=False: the position after a batch would not be known")
        former = self._current
        number = -1
        loop = 0
        for batch in loader:
            epoch = self._current
            if number < 0:
                if epoch is None or epoch is former:
                    raise ValueError("the loader has another sampler")
                number = self._first
                loop = self._loop
                self._is_counted = True
            if loop != self._loop:
                raise RuntimeError("this loop has ended: another was begun, or a state was loaded")
            assert epoch is not None
            self._delivered(epoch, epoch.batch(number))
            number += 1
            yield batch
        epoch = self._current
        if epoch is not None and (loop == self._loop if number >= 0 else epoch is not former):
            self._is_counted = True
            self._completed(epoch)

    def state_dict(self) -> dict[str, str]:
        """Returns the position after the last batch of :meth:`deliver`: a line of JSON, as in Java.

        Raises:
            ValueError: the batches of the loop were not counted.
        """
        if not self._is_counted and self._resume_epoch is None:
            raise ValueError("the position is not known: read the batches by deliver(loader)")
        return super().state_dict()
