# SPDX-License-Identifier: Apache-2.0
"""The benchmark DLIO as ``./ddstore bench dlio`` runs it.

    bench_dlio.py write LENGTHS FOLDER         writes each sample to a file .npz of DLIO in FOLDER
    bench_dlio.py run LENGTHS RESULT ARG...    runs DLIO with arguments, then reads all samples once more by the same
                                               classes, compares each byte, and writes a JSON object to RESULT

LENGTHS is a file with the bytes of each sample, one number a line.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

Bytes = Any


def sample(number: int, length: int) -> Bytes:
    """Returns the bytes of a sample that the command has written: little-endian words that count from its number."""
    words = np.arange(-(-length // 8), dtype="<i8")
    words += (number + 1) << 32
    return words.view(np.uint8)[:length]


def write(lengths: list[int], folder: Path) -> None:
    digits = len(str(len(lengths)))
    for number, length in enumerate(lengths):
        np.savez(folder / f"img_{number:0{digits}}_of_{len(lengths)}.npz", x=sample(number, length)[:, None], y=[0])


def samples_of_loader() -> Iterator[tuple[int, Bytes]]:
    """Yields each sample of an epoch of ``StoreDataLoader`` with its number."""
    from dlio_benchmark.common.enumerations import DatasetType
    from dlio_benchmark.data_loader.data_loader_factory import DataLoaderFactory
    from dlio_benchmark.utils.config import ConfigArguments

    args = ConfigArguments.get_instance()
    loader = DataLoaderFactory.get_loader(args.data_loader, args.format, DatasetType.TRAIN, 1)
    loader.read()
    for batch in loader.next():
        yield from zip(loader.loader.rows.tolist(), batch["x"], strict=True)


def samples_of_reader() -> Iterator[tuple[int, Bytes]]:
    """Yields each sample with its number, as the reader of DLIO's DataLoader reads it."""
    from dlio_benchmark.common.enumerations import DatasetType
    from dlio_benchmark.reader.reader_factory import ReaderFactory
    from dlio_benchmark.utils.config import ConfigArguments

    args = ConfigArguments.get_instance()
    reader = ReaderFactory.get_reader(args.format, DatasetType.TRAIN, 0, 1)
    for number, (file, index) in args.train_global_index_map.items():
        reader.open_file_map[file] = opened = reader.open(file)
        read = reader.get_sample(file, index)
        yield number, opened[..., index] if read is None else read["x"][0]


def mismatches(lengths: list[int], samples: Iterator[tuple[int, Bytes]]) -> int:
    """Returns how many samples differ from the written ones, are missing, or come twice."""
    missing = set(range(len(lengths)))
    wrong = 0
    for number, read in samples:
        if number not in missing or not np.array_equal(np.frombuffer(read, np.uint8), sample(number, lengths[number])):
            wrong += 1
        missing.discard(number)
    return wrong + len(missing)


def run(lengths: list[int], result: Path) -> None:
    # The module of DLIO's TensorBoard profiler, which is not used, imports TensorFlow.
    sys.modules.setdefault("tensorflow", types.ModuleType("tensorflow"))
    import torch
    from dlio_benchmark.framework.torch_framework import TorchFramework
    from dlio_benchmark.main import main
    from dlio_benchmark.utils.config import ConfigArguments

    main()
    timed = getattr(TorchFramework.get_instance(False).reader_train, "loader", None)
    # Of the last epoch, as DLIO's loop got it.
    wrong = 0 if timed is None or timed.receipt().exact else len(lengths)
    is_loader = ConfigArguments.get_instance().data_loader_class is not None
    wrong += mismatches(lengths, samples_of_loader() if is_loader else samples_of_reader())
    versions = {name: importlib.metadata.version(name) for name in ("dlio-benchmark", "mpich", "hydra-core")}
    versions |= {"Python": platform.python_version(), "NumPy": np.__version__, "PyTorch": torch.__version__}
    result.write_text(json.dumps({"mismatches": wrong, "checked": len(lengths), "versions": versions}))


if __name__ == "__main__":
    command, file, target = sys.argv[1:4]
    numbers = [int(line) for line in Path(file).read_text().split()]
    if command == "write":
        write(numbers, Path(target))
    else:
        del sys.argv[1:4]
        run(numbers, Path(target))
