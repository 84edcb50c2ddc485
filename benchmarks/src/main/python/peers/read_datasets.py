# SPDX-License-Identifier: Apache-2.0
"""Hugging Face datasets: an Arrow file, mapped, read as Arrow."""

import os
from collections.abc import Iterator
from typing import Any

import peer

os.environ["HF_HUB_OFFLINE"] = "1"

import datasets
import numpy as np
import pyarrow as pa
import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self, rows: Any, floats: int) -> None:
        self.rows = rows
        self.floats = floats

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: Any) -> Any:
        column = self.rows[rows]["x"].combine_chunks()
        return column.flatten().to_numpy().reshape(-1, self.floats)


class Datasets(peer.Peer):
    version = datasets.__version__

    def convert(self) -> None:
        datasets.disable_progress_bars()
        parts = [
            pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(part.reshape(-1)), self.floats)})
            for part in peer.converted_parts(self)
        ]
        datasets.Dataset(pa.concat_tables(parts)).save_to_disk(str(self.scratch / "arrow"))

    def open(self) -> None:
        self.data = Rows(datasets.load_from_disk(str(self.scratch / "arrow")).with_format("arrow"), self.floats)
        self.settings = {
            "format": "arrow, which is faster than numpy or torch",
            "shuffle": "full, by a permutation of NumPy; faster than Dataset.shuffle()",
            "memory": "mapped file",
        }

    def single(self, row: int) -> Any:
        return self.data[[row]][0]

    def batch_of(self, rows: Any) -> Any:
        return self.data[rows]

    def epoch(self) -> Iterator[Any]:
        order = np.random.default_rng().permutation(self.rows)
        return (self.data[order[at : at + self.batch]] for at in range(0, self.rows, self.batch))

    def loader(self, workers: int) -> Any:
        return peer.shuffled_batches(self.data, self.batch, workers)


if __name__ == "__main__":
    peer.run(Datasets)
