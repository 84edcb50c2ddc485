# SPDX-License-Identifier: Apache-2.0
"""Lance: a data set in files, rows by take."""

import warnings
from collections.abc import Iterator
from typing import Any

import lance
import numpy as np
import peer
import pyarrow as pa
import torch


class Rows(torch.utils.data.Dataset):
    """Opened again in a worker process, which is spawned: Lance's threads do not survive a fork."""

    def __init__(self, path: str, floats: int) -> None:
        self.path = path
        self.floats = floats
        self.rows: Any = None
        self.count = lance.dataset(path).count_rows()

    def __len__(self) -> int:
        return self.count

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "rows": None}

    def __getitem__(self, rows: Any) -> Any:
        if self.rows is None:
            self.rows = lance.dataset(self.path)
        column = self.rows.take(rows, columns=["x"])["x"].combine_chunks()
        return column.flatten().to_numpy().reshape(-1, self.floats)


class Lance(peer.Peer):
    version = lance.__version__

    def convert(self) -> None:
        kind = pa.list_(pa.float32(), self.floats)
        parts = (
            pa.record_batch({"x": pa.FixedSizeListArray.from_arrays(pa.array(part.reshape(-1)), type=kind)})
            for part in peer.converted_parts(self)
        )
        lance.write_dataset(parts, str(self.scratch / "rows.lance"), schema=pa.schema({"x": kind}))

    def open(self) -> None:
        self.data = Rows(str(self.scratch / "rows.lance"), self.floats)
        self.settings = {
            "shuffle": "full, take() of a permutation of NumPy",
            "workers": "spawned",
        }

    def single(self, row: int) -> Any:
        return self.data[[row]][0]

    def batch_of(self, rows: Any) -> Any:
        return self.data[rows]

    def epoch(self) -> Iterator[Any]:
        order = np.random.default_rng().permutation(self.rows)
        return (self.data[order[at : at + self.batch]] for at in range(0, self.rows, self.batch))

    def loader(self, workers: int) -> Any:
        return peer.shuffled_batches(self.data, self.batch, workers, "spawn")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    peer.run(Lance)
