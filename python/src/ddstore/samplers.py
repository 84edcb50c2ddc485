# SPDX-License-Identifier: Apache-2.0
"""Which rows each rank reads in an epoch, in batches.

The orders, descriptions, states and receipts are those of Java: a training can move between the languages, and
between numbers of ranks in the middle of an epoch. Each rank computes its batches without communication.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from ctypes import addressof, byref, c_int64, c_void_p, create_string_buffer
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._store import address_of
from .errors import error_of

_DISTRIBUTIONS = ("slices", "strided", "contiguous")
_TAILS = ("drop", "keep", "pad")
_MAX_DESCRIPTION = 256
_MAX_RANKS = 2**31 - 1

_epoch_batch = c.library.dds_epoch_batch
_coverage_deliver = c.library.dds_coverage_deliver

Rows = slice | range | Sequence[int] | npt.NDArray[np.integer[Any]]


class _Handle:
    """An object of the library, freed with this one."""

    def __init__(self, make: Callable[..., int], free: Callable[..., None], *arguments: Any) -> None:
        error = c.Error()
        pointer = c_void_p()
        if make(*arguments, byref(pointer), byref(error)) != c.OK:
            raise error_of(error)
        self.pointer = pointer
        self._free = free

    def __reduce__(self) -> Any:
        raise TypeError("samplers hold memory of C, and cannot be copied or pickled: make them where they are used")

    def __del__(self) -> None:
        pointer = getattr(self, "pointer", None)
        if pointer is not None:
            self._free(pointer)


def _check(code: int, error: c.Error) -> None:
    if code != c.OK:
        raise error_of(error)


@dataclass(frozen=True)
class Receipt:
    """The result of a check that each sample of an epoch came exactly once.

    Attributes:
        exact: whether each sample was delivered, or dropped by plan, exactly once.
        samples: samples of the epoch.
        delivered: samples of all ranks, without padding.
        dropped: samples left out by plan.
        padded: samples that only filled batches.
        repeated: least number of repeated samples.
        lost: least number of samples that did not come.
    """

    exact: bool
    samples: int
    delivered: int
    dropped: int
    padded: int
    repeated: int
    lost: int
    text: str

    def __str__(self) -> str:
        return self.text


class Epoch:
    """The batches of one rank in one epoch, in any order. For one thread at a time."""

    def __init__(self, sampler: Sampler, rows: int, number: int) -> None:
        self._sampler = sampler
        self._error = c.Error()
        self._error_address = addressof(self._error)
        self._info = c.BatchInfo()
        self._info_address = addressof(self._info)
        self._is_of_subset = sampler._whole is not None
        self._handle = _Handle(
            c.library.dds_epoch_open,
            c.library.dds_epoch_close,
            byref(sampler._batching),
            _integer("rows", rows),
            sampler.rank,
            sampler.world,
            _integer("epoch", number),
        )
        self._pointer = self._handle.pointer
        self.number = number
        self.rows = rows
        self._batches = int(c.library.dds_epoch_batches(self._pointer))
        self._max_size = int(c.library.dds_epoch_max_size(self._pointer))
        self._coverage: _Handle | None = None
        self._first = 0

    def __len__(self) -> int:
        return self._batches

    @property
    def samples(self) -> int:
        """Number of samples that the sampler chooses from."""
        return int(c.library.dds_epoch_samples(self._pointer))

    @property
    def positions(self) -> int:
        """Number of samples of the epoch, over all ranks."""
        return int(c.library.dds_epoch_positions(self._pointer))

    def batch(self, number: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
        """Returns the rows of a batch, the numbers of its samples, and how many at its end are padding.

        Rows and samples are one array unless the sampler has a subset.
        """
        number = operator.index(number)
        if not 0 <= number < self._batches:
            raise IndexError(f"batch {number} outside [0, {self._batches})")
        info = self._info
        rows = np.empty(self._max_size, np.int64)
        samples = np.empty(self._max_size, np.int64) if self._is_of_subset else rows
        code = _epoch_batch(
            self._pointer, number, self._info_address, address_of(samples), address_of(rows), self._error_address
        )
        _check(code, self._error)
        size = info.size
        if size < len(rows):
            rows, samples = rows[:size], samples[:size]
        return rows, samples, info.padding

    def __getitem__(self, number: int) -> npt.NDArray[np.int64]:
        """Returns the global indices of the rows of a batch."""
        return self.batch(number)[0]

    def __iter__(self) -> Iterator[npt.NDArray[np.int64]]:
        return (self[number] for number in range(self._batches))

    def resume(self, batch: int) -> None:
        """Counts the batches before this one as delivered, in an earlier run."""
        if self._coverage is not None:
            raise ValueError("samples were delivered before resume")
        self._first = _integer("batch", batch)

    def deliver(self, samples: npt.NDArray[np.int64], padding: int = 0) -> None:
        """Counts samples of :meth:`batch` as given to the consumer."""
        self._deliver(_array("samples", samples, np.int64), padding)

    def _deliver(self, samples: npt.NDArray[np.int64], padding: int) -> None:
        if self._coverage is None:
            self._coverage = _Handle(c.library.dds_coverage_open, c.library.dds_coverage_close, self._pointer)
        pointer = self._coverage.pointer
        _check(_coverage_deliver(pointer, address_of(samples), len(samples), padding, self._error_address), self._error)

    def receipt(self, all_reduce: Any = None) -> Receipt:
        """Checks that each sample came exactly once. Collective unless there is one rank.

        Args:
            all_reduce: a function that gets an int64 array and returns its sums over all ranks, modulo 2^64; or
                ``torch.distributed``. None for one rank.
        """
        if self._coverage is None:
            self._coverage = _Handle(c.library.dds_coverage_open, c.library.dds_coverage_close, self._pointer)
        coverage = self._coverage.pointer
        sums = np.zeros(c.library.dds_coverage_size(coverage), np.int64)
        _check(
            c.library.dds_coverage_sums(coverage, self._pointer, self._first, sums.ctypes.data, byref(self._error)),
            self._error,
        )
        if all_reduce is None:
            if self._sampler.world > 1:
                raise ValueError(f"receipt of {self._sampler.world} ranks: give all_reduce, or torch.distributed")
        elif callable(all_reduce):
            reduced = np.asarray(all_reduce(sums))
            if reduced.shape != sums.shape or reduced.dtype.kind not in "iu":
                raise ValueError(
                    f"all_reduce has returned {reduced.dtype} of shape {reduced.shape}: int64 of shape {sums.shape} is"
                    " legal"
                )
            sums = np.ascontiguousarray(reduced.astype(np.int64))
        elif not hasattr(all_reduce, "all_reduce"):
            raise TypeError(f"all_reduce {all_reduce!r}: a function, or torch.distributed, is legal")
        else:
            torch = sys.modules["torch"]
            tensor = torch.from_numpy(sums)
            if all_reduce.get_backend() == "nccl":
                tensor = tensor.cuda()
            all_reduce.all_reduce(tensor)
            sums = tensor.cpu().numpy()
        result = c.CoverageReceipt()
        c.library.dds_coverage_receipt(coverage, sums.ctypes.data, byref(result))
        return Receipt(
            bool(result.exact),
            result.samples,
            result.delivered,
            result.dropped,
            result.padded,
            result.repeated,
            result.lost,
            result.text.decode("utf-8", "replace"),
        )


class Sampler:
    """An order of rows, cut into batches for the ranks of a training.

    Made by the functions of this module. The epoch is part of it: :meth:`set_epoch` changes it.
    """

    def __init__(
        self,
        handle: _Handle,
        *,
        batch_size: int | None,
        global_batch_size: int | None,
        rank: int | None,
        world: int | None,
        tail: str,
        distribution: str,
        whole: Sampler | None = None,
    ) -> None:
        if (batch_size is None) == (global_batch_size is None):
            raise ValueError("give either batch_size or global_batch_size")
        self.rank, self.world = _place(rank, world)
        self.batch_size = None if batch_size is None else _integer("batch_size", batch_size)
        self.global_batch_size = None if global_batch_size is None else _integer("global_batch_size", global_batch_size)
        self.tail = _choose("tail", tail, _TAILS)
        self.distribution = _choose("distribution", distribution, _DISTRIBUTIONS)
        self.epoch = 0
        self._handle = handle
        self._whole = whole  # not to be freed before this one
        self._batching = c.Batching(
            handle.pointer,
            self.batch_size or 0,
            self.global_batch_size or 0,
            _DISTRIBUTIONS.index(distribution),
            _TAILS.index(tail),
        )
        self.describe()

    def describe(self) -> str:
        """Describes everything that the global batches depend on, such as ``shuffled(42)/512``."""
        text = create_string_buffer(_MAX_DESCRIPTION)
        error = c.Error()
        _check(
            c.library.dds_batching_describe(byref(self._batching), self.world, text, byref(error)),
            error,
        )
        return text.value.decode("utf-8")

    def __repr__(self) -> str:
        return f"<{self.describe()}, rank {self.rank} of {self.world}, epoch {self.epoch}>"

    def set_epoch(self, epoch: int) -> None:
        """Sets the number of the next epoch, counted from 0."""
        self.epoch = _integer("epoch", epoch, 0)

    def batches(self, rows: int, epoch: int | None = None) -> Epoch:
        """Returns the batches of this rank over a number of rows, of an epoch, the present one by default."""
        return Epoch(self, rows, self.epoch if epoch is None else epoch)

    def within(self, rows: Rows) -> Sampler:
        """Returns a sampler of some rows of the store: a slice or range of step 1, or ascending indices.

        Weights and labels are still those of all rows. A second call restricts it to the rows of both.
        """
        if isinstance(rows, (slice, range)):
            start, stop, step = rows.start or 0, rows.stop, rows.step
            if stop is None or step not in (None, 1):
                raise ValueError(f"rows {rows}: give an end, and no step")
            bounds = np.array([_integer("start", start), _integer("stop", stop)], np.int64)
            subset = _Handle(c.library.dds_subset_of_ranges, c.library.dds_subset_free, bounds.ctypes.data, 1)
        else:
            indices = _array("rows", rows, np.int64)
            subset = _Handle(
                c.library.dds_subset_of_rows,
                c.library.dds_subset_free,
                indices.ctypes.data,
                len(indices),
            )
        handle = _Handle(
            c.library.dds_sampler_within,
            c.library.dds_sampler_free,
            self._handle.pointer,
            subset.pointer,
        )
        return Sampler(
            handle,
            batch_size=self.batch_size,
            global_batch_size=self.global_batch_size,
            rank=self.rank,
            world=self.world,
            tail=self.tail,
            distribution=self.distribution,
            whole=self,
        )


def _choose(name: str, value: str, legal: tuple[str, ...]) -> str:
    if value not in legal:
        raise ValueError(f"{name} {value!r}: choose from {list(legal)}")
    return value


def _integer(name: str, value: Any, low: int = -(2**63), high: int = 2**63 - 1) -> int:
    """Returns an integer that C holds without loss."""
    number: int = operator.index(value)
    if not low <= number <= high:
        raise ValueError(f"{name} {number} outside [{low}, {high}]")
    return number


def _array(name: str, values: npt.ArrayLike, dtype: Any) -> npt.NDArray[Any]:
    """Returns numbers as C reads them: an array of one dimension, converted without loss if they are integers."""
    array = np.asarray(values)
    is_integer = np.dtype(dtype).kind == "i"
    if array.ndim != 1 or (array.size > 0 and array.dtype.kind not in ("iu" if is_integer else "iuf")):
        raise ValueError(
            f"{name} of type {array.dtype} and shape {array.shape}:"
            f" {'integers' if is_integer else 'numbers'} of one dimension are legal"
        )
    if is_integer and array.dtype != dtype and array.size > 0:
        for value in (array.min(), array.max()):
            _integer(name, value, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    return np.ascontiguousarray(array, dtype)


def _place(rank: int | None, world: int | None) -> tuple[int, int]:
    """Returns the rank and the number of ranks: as given, or of torch.distributed, or of the environment."""
    if (rank is None) != (world is None):
        raise ValueError("give both rank and world, or neither")
    if rank is not None and world is not None:
        return _integer("rank", rank, 0, _MAX_RANKS), _integer("world", world, 1, _MAX_RANKS)
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank()), int(distributed.get_world_size())
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    return 0, 1


def sequential(
    *,
    batch_size: int | None = None,
    global_batch_size: int | None = None,
    rank: int | None = None,
    world: int | None = None,
    tail: str = "drop",
    distribution: str = "slices",
) -> Sampler:
    """Rows by index.

    Args:
        batch_size: samples of a batch of each rank.
        global_batch_size: samples of a batch of all ranks together, instead: an epoch is then the same for every
            number of ranks.
        rank: this rank, in [0, world); by default that of torch.distributed or of the variables of torchrun.
        world: number of ranks.
        tail: what becomes of samples that do not fill a global batch: ``drop`` leaves out others in each epoch,
            ``keep`` makes smaller batches, for an evaluation, ``pad`` repeats samples, which have no weight.
        distribution: ``slices`` of each global batch, ``strided`` samples of it, or ``contiguous`` parts of the
            rows, each in an order of its own.
    """
    handle = _Handle(c.library.dds_sampler_sequential, c.library.dds_sampler_free)
    return Sampler(
        handle,
        batch_size=batch_size,
        global_batch_size=global_batch_size,
        rank=rank,
        world=world,
        tail=tail,
        distribution=distribution,
    )


def shuffled(seed: int, **batching: Any) -> Sampler:
    """All rows in random order, without a list of rows; of two epochs 2k and 2k + 1 no row is dropped twice.

    Args:
        seed: any int64.
        batching: as for :func:`sequential`.
    """
    handle = _Handle(c.library.dds_sampler_shuffled, c.library.dds_sampler_free, _integer("seed", seed))
    return _with(handle, batching)


def chunked(seed: int, block_rows: int, window_blocks: int, **batching: Any) -> Sampler:
    """Blocks of neighbouring rows in random order, with rows shuffled within windows of several blocks.

    Args:
        seed: any int64.
        block_rows: rows per block.
        window_blocks: blocks per window; a window must be a multiple of the batch.
        batching: as for :func:`sequential`.
    """
    handle = _Handle(
        c.library.dds_sampler_chunked,
        c.library.dds_sampler_free,
        _integer("seed", seed),
        _integer("block_rows", block_rows),
        _integer("window_blocks", window_blocks),
    )
    return _with(handle, batching)


def weighted(
    seed: int,
    weights: npt.ArrayLike,
    draws: int | None = None,
    replacement: bool = True,
    **batching: Any,
) -> Sampler:
    """Rows drawn in proportion to weights.

    Args:
        seed: any int64.
        weights: one for each row of the store, in [0, infinity).
        draws: samples per epoch; as many as rows by default, without replacement as rows with a weight.
        replacement: whether a row can come several times in an epoch.
        batching: as for :func:`sequential`.
    """
    values = _array("weights", weights, np.float64)
    if draws is None:
        draws = len(values) if replacement else int(np.count_nonzero(values > 0))
    handle = _Handle(
        c.library.dds_sampler_weighted,
        c.library.dds_sampler_free,
        _integer("seed", seed),
        values.ctypes.data,
        len(values),
        _integer("draws", draws),
        int(replacement),
    )
    return _with(handle, batching)


def class_balanced(
    seed: int,
    labels: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    block_rows: int = 1,
    draws: int | None = None,
    **batching: Any,
) -> Sampler:
    """Rows of all classes equally often, or in proportion to the weights of the classes.

    Args:
        seed: any int64.
        labels: class of each row of the store, from 0.
        weights: share of each class; equal by default.
        block_rows: consecutive samples of one class.
        draws: samples per epoch, drawn with replacement; by default none is repeated in an epoch, whose length
            the scarcest class determines.
        batching: as for :func:`sequential`.
    """
    classes = _array("labels", labels, np.int32)
    shares = None if weights is None else _array("weights", weights, np.float64)
    handle = _Handle(
        c.library.dds_sampler_class_balanced,
        c.library.dds_sampler_free,
        _integer("seed", seed),
        classes.ctypes.data,
        len(classes),
        None if shares is None else shares.ctypes.data,
        0 if shares is None else len(shares),
        _integer("block_rows", block_rows),
        0 if draws is None else _integer("draws", draws),
        int(draws is not None),
    )
    return _with(handle, batching)


def _with(handle: _Handle, batching: dict[str, Any]) -> Sampler:
    options: dict[str, Any] = {
        "batch_size": None,
        "global_batch_size": None,
        "rank": None,
        "world": None,
        "tail": "drop",
        "distribution": "slices",
    }
    unknown = sorted(set(batching) - set(options))
    if unknown:
        raise TypeError(f"unknown arguments {unknown}: legal are {sorted(options)}")
    return Sampler(handle, **{**options, **batching})


def write_state(state: c.State) -> str:
    """Returns a state as one line of JSON."""
    text = create_string_buffer(512)
    error = c.Error()
    _check(c.library.dds_state_write(byref(state), text, len(text), byref(error)), error)
    return text.value.decode("utf-8")


def resume_state(text: str, here: c.State) -> tuple[int, int]:
    """Returns epoch and batch to continue with; refuses a state of other rows or of another configuration."""
    encoded = text.encode("utf-8")
    epoch, batch, error = c_int64(), c_int64(), c.Error()
    _check(
        c.library.dds_state_resume(encoded, len(encoded), byref(here), byref(epoch), byref(batch), byref(error)),
        error,
    )
    return epoch.value, batch.value
