# SPDX-License-Identifier: Apache-2.0
"""A program of ``./ddstore bench peers``: the protocol, the checks of rows and the measure of memory.

Started with the path of a task in JSON. Prints a line of JSON about itself, then one for each line of JSON that it
reads, and ends with its input. A peer is a subclass of :class:`Peer`; docs/peers.md describes the lines.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

VALUES = 64  # of a sparse row
SINGLES = 256  # single rows between two looks at the clock
BATCHES = 4  # batches between two looks at the clock
CHECKED = 2  # batches, or hundreds of single rows, that a turn checks outside of the measured time
PSS_SAMPLES = 8
WRITTEN_ROWS = 1 << 14

Sparse = tuple[Any, Any, Any]  # columns, values, offsets


class Peer:
    """A way to read rows. A subclass overrides the methods of the cases that it supports.

    Row i of the dense rows is float32 ``[i + 1, i + 2, ...]``. Row i of the sparse rows has the columns ``61 k + i %
    61`` and the values ``i + k``, k from 0 to 63.
    """

    version = ""

    def __init__(self, task: Any) -> None:
        self.task = task
        self.rows: int = task.rows  # rows that this peer holds, from row 0 on
        self.batch: int = task.batch
        self.floats: int = task.rowBytes // 4
        self.scratch = Path(task.scratch)
        self.settings: dict[str, Any] = {}

    def dense(self) -> Any:
        """Returns a mapping of the rows, float32 [rows, floats]."""
        return np.load(self.task.npy, mmap_mode="r")

    def sparse_parts(self) -> Sparse:
        """Returns columns (int32), values (float32) and offsets (int64) of all sparse rows, in memory."""
        return tuple(np.load(Path(self.task.csr) / f"{part}.npy") for part in ("columns", "values", "offsets"))

    def convert(self) -> None:
        """Writes the rows in the peer's own form."""

    def open(self) -> None:
        """Opens what :meth:`convert` has written, again at each call."""

    def close(self) -> None:
        """Closes what is open."""

    def single(self, row: int) -> Any:
        """Returns a row."""

    def batch_of(self, rows: Any) -> Any:
        """Returns the rows, in this order."""

    def epoch(self) -> Iterator[Any]:
        """Yields all rows in a random order, in batches."""

    def loader(self, workers: int) -> Iterator[Any]:
        """Yields all rows in a random order, in batches that worker processes read."""

    def sparse_batch(self, rows: Any) -> Sparse:
        """Returns sparse rows, in this order."""

    def sparse_epoch(self) -> Iterator[Sparse]:
        """Yields all sparse rows in a random order of rows, in batches."""

    def sparse_chunks(self) -> Iterator[Sparse]:
        """Yields all sparse rows in a random order of chunks, shuffled within some of them, in batches."""


def wrong(values: Any, rows: Any) -> int:
    """Returns the number of rows that differ from the written ones."""
    values = np.asarray(values)
    expected = (rows[:, None] + np.arange(1, values.shape[-1] + 1)).astype(np.float32)
    return len(rows) if values.shape != expected.shape else int((values != expected).any(axis=1).sum())


def wrong_sparse(part: Sparse, rows: Any) -> int:
    columns, values, offsets = part
    if len(offsets) != len(rows) + 1 or (np.diff(offsets) != VALUES).any():
        return len(rows)
    k = np.arange(VALUES)
    is_wrong = columns.reshape(-1, VALUES) != k * 61 + rows[:, None] % 61
    is_wrong |= values.reshape(-1, VALUES) != (rows[:, None] + k).astype(np.float32)
    return int(is_wrong.any(axis=1).sum())


def first_dense(batch: Any) -> Any:
    return np.asarray(batch)[:, 0]


def first_sparse(part: Sparse) -> Any:
    return part[1][::VALUES] + np.float32(1)  # the first values of rows, as if they were dense


def row_numbers(firsts: Any) -> Any:
    return firsts.astype(np.int64) - 1


def digest(rows: Any) -> str:
    """Returns the sum of the hashes of row numbers, which does not depend on their order."""
    z = rows.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return f"{int((z ^ (z >> np.uint64(31))).sum(dtype=np.uint64)):016x}"


def pss_of_tree() -> int:
    """Returns the memory of this process and all below it in bytes; shared pages count by their share."""
    parents: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                parent = int(Path(entry.path, "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended
            parents.setdefault(parent, []).append(int(entry.name))
    total, pending = 0, [os.getpid()]
    while pending:
        process = pending.pop()
        pending += parents.get(process, [])
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


class Turns:
    """The cases of a peer. Rows to read are drawn outside of the measured time."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.random = np.random.default_rng(peer.task.seed)
        self.begun: set[str] = set()
        dense = (first_dense, wrong)
        sparse = (first_sparse, wrong_sparse)
        turns: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
            "single": ("single", lambda _: self.singles()),
            "batch": ("batch_of", lambda _: self.batches(peer.batch_of, wrong)),
            "epoch": ("epoch", lambda _: self.epochs("epoch", peer.epoch, *dense)),
            "start": ("epoch", lambda _: self.start()),
            "memory": ("loader", lambda request: self.memory(request["workers"])),
            "sparse-batch": ("sparse_batch", lambda _: self.batches(peer.sparse_batch, wrong_sparse)),
            "sparse-epoch": ("sparse_epoch", lambda _: self.epochs("sparse-epoch", peer.sparse_epoch, *sparse)),
            "sparse-chunks": ("sparse_chunks", lambda _: self.epochs("sparse-chunks", peer.sparse_chunks, *sparse)),
        }
        self.cases = {
            name: turn
            for name, (method, turn) in turns.items()
            if getattr(type(peer), method) is not getattr(Peer, method)
        }
        self.seconds = 0.0

    def turn(self, request: dict[str, Any]) -> dict[str, Any]:
        self.seconds = float(request.get("seconds", 0))
        return self.cases[request["case"]](request)

    def timed(self, round_of: Callable[[], tuple[int, int]]) -> dict[str, Any]:
        """Runs rounds, each of which returns its nanoseconds and rows, for the seconds of the turn."""
        nanos = rows = 0
        while nanos < self.seconds * 1e9 or rows == 0:
            more = round_of()
            nanos += more[0]
            rows += more[1]
        return {"microsPerRow": nanos / 1e3 / rows, "rows": rows}

    def singles(self) -> dict[str, Any]:
        read, count = self.peer.single, self.peer.rows

        def round_of() -> tuple[int, int]:
            drawn = self.random.integers(0, count, SINGLES).tolist()
            start = time.perf_counter_ns()
            for row in drawn:
                read(row)
            return time.perf_counter_ns() - start, SINGLES

        rows = self.random.integers(0, count, CHECKED * 100)
        mismatches = wrong(np.stack([np.array(read(row)) for row in rows.tolist()]), rows)
        return {**self.timed(round_of), "mismatches": mismatches}

    def batches(self, read: Callable[[Any], Any], check: Callable[[Any, Any], int]) -> dict[str, Any]:
        shape = (BATCHES, self.peer.batch)

        def round_of() -> tuple[int, int]:
            drawn = list(self.random.integers(0, self.peer.rows, shape))
            start = time.perf_counter_ns()
            for rows in drawn:
                read(rows)
            return time.perf_counter_ns() - start, BATCHES * self.peer.batch

        drawn = self.random.integers(0, self.peer.rows, (CHECKED, self.peer.batch))
        mismatches = sum(check(read(rows), rows) for rows in drawn)
        return {**self.timed(round_of), "mismatches": mismatches}

    def epochs(
        self,
        name: str,
        epoch: Callable[[], Iterator[Any]],
        first: Callable[[Any], Any],
        check: Callable[[Any, Any], int],
    ) -> dict[str, Any]:
        """Reads whole epochs, and whether every row came once. The first turn also compares all values.

        Within the measured time only the first value of each row is copied, which costs all ways the same.
        """
        count = self.peer.rows
        seen = np.empty(count, np.float32)
        mismatches = 0
        if name not in self.begun:
            self.begun.add(name)
            mismatches += sum(check(batch, row_numbers(first(batch))) for batch in epoch())

        def round_of() -> tuple[int, int]:
            nonlocal mismatches
            end = 0
            start = time.perf_counter_ns()
            for batch in epoch():
                firsts = first(batch)
                end += len(firsts)
                if end > count:
                    raise ValueError(f"an epoch of more than {count} rows")
                seen[end - len(firsts) : end] = firsts
            nanos = time.perf_counter_ns() - start
            rows = row_numbers(seen[:end])
            is_legal = (rows >= 0) & (rows < count)
            mismatches += int((np.bincount(rows[is_legal], minlength=count) != 1).sum() + (~is_legal).sum())
            return nanos, end

        result = self.timed(round_of)
        return {**result, "digest": digest(row_numbers(seen)), "mismatches": mismatches}

    def start(self) -> dict[str, Any]:
        begun = time.perf_counter_ns()
        self.peer.open()
        opened = time.perf_counter_ns()
        epoch = iter(self.peer.epoch())
        batch = next(epoch)
        end = time.perf_counter_ns()
        mismatches = wrong(batch, row_numbers(first_dense(batch)))
        del batch, epoch
        return {
            "openUs": (opened - begun) / 1e3,
            "firstBatchUs": (end - opened) / 1e3,
            "rows": self.peer.batch,
            "mismatches": mismatches,
        }

    def memory(self, workers: int) -> dict[str, Any]:
        """Reads batches of at most an epoch, and looks at the memory meanwhile.

        Ends the seconds of the turn after each worker has delivered a batch.
        """
        batches = -(-self.peer.rows // self.peer.batch)
        most = rows = mismatches = 0
        end = math.inf
        epoch = iter(self.peer.loader(workers))
        for number, batch in enumerate(epoch):
            rows += len(batch)
            mismatches += wrong(batch, row_numbers(first_dense(batch)))
            if number % max(1, batches // PSS_SAMPLES) == 0:
                most = max(most, pss_of_tree())
            if number + 1 == workers:  # all have started
                end = time.monotonic() + self.seconds
            if time.monotonic() > end:
                break
        del epoch
        return {"bytes": most, "rows": rows, "mismatches": mismatches}


def shuffled_batches(rows: Any, batch: int, workers: int, context: str | None = None) -> Any:
    """Returns a DataLoader that gets a whole batch from a data set by one call, without collating rows.

    The indices are arrays of NumPy: PyTorch would share the memory of tensors, from the threads of all workers' queues
    at once, which crashes.
    """
    from torch.utils.data import DataLoader, Sampler

    class Batches(Sampler):
        def __iter__(self) -> Iterator[Any]:
            order = np.random.default_rng().permutation(len(rows))
            return (order[at : at + batch] for at in range(0, len(rows), batch))

        def __len__(self) -> int:
            return -(-len(rows) // batch)

    return DataLoader(
        rows, sampler=Batches(None), batch_size=None, num_workers=workers, multiprocessing_context=context
    )


def converted_parts(peer: Peer) -> Iterator[Any]:
    """Yields the rows that a peer holds, in parts."""
    dense = peer.dense()
    for first in range(0, peer.rows, WRITTEN_ROWS):
        yield np.array(dense[first : min(first + WRITTEN_ROWS, peer.rows)])


def run(make: Callable[[Any], Peer]) -> None:
    """Speaks the protocol until the input ends."""
    started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    imported = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    faulthandler.enable()
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no reply
    with open(sys.argv[1], encoding="utf-8") as file:
        peer = make(SimpleNamespace(**json.load(file)))
    begun = time.perf_counter_ns()
    peer.convert()
    converted = time.perf_counter_ns()
    peer.open()
    turns = Turns(peer)

    def answer(line: dict[str, Any]) -> None:
        print(json.dumps(line), file=replies, flush=True)

    answer(
        {
            "name": type(peer).__name__,
            "version": peer.version,
            "rows": peer.rows,
            "settings": {"python": platform.python_version(), "numpy": np.__version__, **peer.settings},
            "cases": list(turns.cases),
            "startUs": {"import": imported * 1e6, "convert": (converted - begun) / 1e3},
        }
    )
    for line in sys.stdin:
        try:
            answer(turns.turn(json.loads(line)))
        except Exception as e:
            traceback.print_exc()
            answer({"error": f"{type(e).__name__}: {e}"})
    peer.close()
