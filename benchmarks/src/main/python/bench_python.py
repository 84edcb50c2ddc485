# SPDX-License-Identifier: Apache-2.0
"""The reads in Python that ``./ddstore bench python`` compares with those of Java.

Prints a line of JSON with the versions, then reads on standard input lines with a way and seconds, and prints for each
the microseconds per row and the number of wrong rows.

    bench_python.py HANDLE SPARSE-HANDLE BATCH
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

try:
    import numpy as np

    import ddstore
    from ddstore import samplers
except ImportError as e:
    print(json.dumps({"error": str(e)}), flush=True)
    sys.exit(0)

versions = {"Python": sys.version.split()[0], "NumPy": np.__version__}
missing: dict[str, str] = {}

try:
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    import ddstore.torch

    versions["PyTorch"] = torch.__version__
except ImportError as e:
    torch = None
    missing["PyTorch"] = str(e)

try:
    import annbatch
    import anndata
    import numba  # noqa: F401 (annbatch needs it for rows in memory)
    import scipy.sparse

    versions["annbatch"] = annbatch.__version__
except ImportError as e:
    annbatch = None
    missing["annbatch"] = str(e)

FLOATS = 64
COLUMNS = 3000
#: Batches, or thousands of single rows, between two looks at the clock.
ROUND = 16
CHECKED = 4
WRITTEN = 1 << 16

Turn = Callable[[float], tuple[float, int]]

random = np.random.default_rng(7)


def expected(rows: Any) -> Any:
    """Returns the rows that the command has written."""
    return (rows[:, None] + np.arange(1, FLOATS + 1)).astype(np.float32)


def wrong(values: Any, rows: Any) -> int:
    return int((np.asarray(values).reshape(-1, FLOATS) != expected(rows)).any(axis=1).sum())


def sparse(rows: Any) -> tuple[Any, Any, Any]:
    """Returns the columns, values and offsets of the sparse rows that the command has written."""
    counts = 16 + rows % 33
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    at = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    columns = (at * 61 + np.repeat(rows % 61, counts)).astype(np.int32)
    return columns, (np.repeat(rows, counts) + at).astype(np.float32), offsets


def wrong_sparse(columns: Any, values: Any, offsets: Any, rows: Any) -> int:
    """Returns 0, or the number of rows if one of them is wrong."""
    parts = zip((columns, values, offsets), sparse(rows), strict=True)
    return 0 if all(np.array_equal(part, written) for part, written in parts) else len(rows)


def timed(seconds: float, round_of: Callable[[], tuple[int, int]]) -> float:
    """Runs rounds, each of which returns its nanoseconds and rows; returns microseconds per row."""
    nanos = rows = 0
    while nanos < seconds * 1e9:
        more = round_of()
        nanos += more[0]
        rows += more[1]
    return nanos / 1e3 / rows


def batches_by_index(
    count: int, batch: int, read: Callable[[Any], Any], check: Callable[[Any, Any], int] = wrong
) -> Turn:
    """Reads of random rows that are drawn outside of the measured time."""

    def round_of() -> tuple[int, int]:
        drawn = list(random.integers(0, count, (ROUND, batch)))
        start = time.perf_counter_ns()
        for rows in drawn:
            read(rows)
        return time.perf_counter_ns() - start, ROUND * batch

    def turn(seconds: float) -> tuple[float, int]:
        mismatches = 0
        for rows in random.integers(0, count, (CHECKED, batch)):
            mismatches += check(read(rows), rows)
        return timed(seconds, round_of), mismatches

    return turn


def rows_by_index(count: int, read: Callable[[int], Any]) -> Turn:
    """Reads of one random row each, by integers of Python."""

    def round_of() -> tuple[int, int]:
        drawn = random.integers(0, count, ROUND * 1000).tolist()
        start = time.perf_counter_ns()
        for row in drawn:
            read(row)
        return time.perf_counter_ns() - start, len(drawn)

    def turn(seconds: float) -> tuple[float, int]:
        rows = random.integers(0, count, CHECKED)
        mismatches = wrong([read(int(row)) for row in rows], rows)
        return timed(seconds, round_of), mismatches

    return turn


def batches_of_epochs(epochs: Iterator[Any], check: Callable[[Any], int]) -> Turn:
    """Batches in an order of their own. The next turn goes on where one has ended."""

    def round_of() -> tuple[int, int]:
        start = time.perf_counter_ns()
        rows = sum(batch.shape[0] for batch in itertools.islice(epochs, ROUND))
        return time.perf_counter_ns() - start, rows

    def turn(seconds: float) -> tuple[float, int]:
        mismatches = sum(check(batch) for batch in itertools.islice(epochs, CHECKED))
        return timed(seconds, round_of), mismatches

    return turn


def write_rows(file: Any, count: int) -> None:
    header = {"descr": "<f4", "fortran_order": False, "shape": (count, FLOATS)}
    np.lib.format.write_array_header_1_0(file, header)
    for first in range(0, count, WRITTEN):
        expected(np.arange(first, min(first + WRITTEN, count))).tofile(file)


def mapped_rows(count: int) -> tuple[Any, Any]:
    """Writes the rows to a .npy file in /dev/shm; returns a mapping to read, and a private one for PyTorch.

    Nothing is left of the file, however this process ends: its name is gone once it is mapped.
    """
    with tempfile.NamedTemporaryFile(prefix="ddstore-bench-", suffix=".npy", dir="/dev/shm") as file:
        write_rows(file, count)
        file.flush()
        mappings = (np.load(file.name, mmap_mode="r"), np.load(file.name, mmap_mode="c"))
    for mapping in mappings:
        mapping.sum()  # the first touch of a page costs more
    return mappings


def loader_epochs(store: Any, batch: int) -> Iterator[Any]:
    loader = ddstore.torch.loader(store, samplers.shuffled(1, global_batch_size=batch), fields=["x"])
    while True:
        for tensors in loader:
            yield tensors["x"]


def data_loader_epochs(rows: Any, batch: int) -> Iterator[Any]:
    data_set = TensorDataset(torch.from_numpy(rows.view(np.ndarray)))
    loader = DataLoader(data_set, batch_size=batch, shuffle=True, num_workers=0)
    while True:
        for (tensor,) in loader:
            yield tensor


def annbatch_epochs(count: int, batch: int, chunk: int) -> Iterator[Any]:
    """Batches of a matrix in the memory of this process, in random order of chunks."""
    parts = [sparse(np.arange(first, min(first + WRITTEN, count))) for first in range(0, count, WRITTEN)]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part[2]) for part in parts]))])
    columns, values = (np.concatenate([part[i] for part in parts]) for i in range(2))
    rows = anndata.AnnData(scipy.sparse.csr_matrix((values, columns, offsets), (count, COLUMNS)))
    loader = annbatch.Loader(
        batch_size=batch,
        chunk_size=chunk,
        preload_nchunks=16 * batch // chunk,
        shuffle=True,
        preload_to_gpu=False,
    ).add_adata(rows)
    while True:
        for output in loader:
            yield output["X"]


def turns(handle: str, sparse_handle: str, batch: int) -> dict[str, Turn]:
    """Returns the ways by name; they hold what they read."""
    mapped = ddstore.attach(handle)
    ports = ddstore.attach(handle, ports_only=True)
    cells = ddstore.attach(sparse_handle)
    count = len(mapped)
    memmap, private = mapped_rows(count)
    plain = memmap.view(np.ndarray)
    # One destination for all. The memory of a tensor is aligned to 64 bytes, that of an array to 16.
    out = np.empty((batch, FLOATS), np.float32) if torch is None else torch.empty((batch, FLOATS)).numpy()

    def by_index(read: Callable[[Any], Any]) -> Turn:
        return batches_by_index(count, batch, read)

    def tensors(epochs: Iterator[Any]) -> Turn:
        return batches_of_epochs(epochs, lambda rows: wrong(rows, row_numbers(np.asarray(rows)[:, 0] - 1)))

    def row_numbers(values: Any) -> Any:
        return np.clip(values.astype(np.int64), 0, count - 1)

    def wrong_cells(read: Any, rows: Any) -> int:
        columns, values = read["columns"], read["data"]
        same = np.array_equal(columns.offsets, values.offsets)
        return wrong_sparse(columns.values, values.values, columns.offsets, rows) if same else len(rows)

    def wrong_matrix(matrix: Any) -> int:
        rows = row_numbers(matrix.data[matrix.indptr[:-1]])
        return wrong_sparse(matrix.indices, matrix.data, matrix.indptr, rows)

    ways = {
        "python_mapped": by_index(lambda rows: mapped.get_batch(rows, out={"x": out})["x"]),
        "python_ports": by_index(lambda rows: ports.get_batch(rows, out={"x": out})["x"]),
        "take": by_index(lambda rows: np.take(plain, rows, axis=0, out=out)),
        "take_clip": by_index(lambda rows: np.take(plain, rows, axis=0, out=out, mode="clip")),
        "memmap": by_index(lambda rows: memmap[rows]),
        "python_row": rows_by_index(count, lambda row: mapped[row]["x"]),
        "memmap_row": rows_by_index(count, lambda row: memmap[row].copy()),
        "python_sparse": batches_by_index(count, batch, cells.get_batch, wrong_cells),
    }
    if torch is not None:
        ways["loader_mapped"] = tensors(loader_epochs(mapped, batch))
        ways["loader_ports"] = tensors(loader_epochs(ports, batch))
        ways["data_loader"] = tensors(data_loader_epochs(private, batch))
    if annbatch is not None:
        ways["annbatch"] = batches_of_epochs(annbatch_epochs(count, batch, 1), wrong_matrix)
        ways["annbatch_chunks"] = batches_of_epochs(annbatch_epochs(count, batch, batch), wrong_matrix)
    return ways


def main() -> None:
    ways = turns(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps({"versions": versions, "missing": missing}), flush=True)
    for line in sys.stdin:
        way, seconds = line.split()
        micros, mismatches = ways[way](float(seconds))
        print(micros, mismatches, flush=True)


main()
