# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader over a numpy.memmap, a batch by one call."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import peer
import torch


class Mapped(torch.utils.data.Dataset):
    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Any:
        return torch.from_numpy(np.asarray(self.values[rows]))


class Memmap(peer.Peer):
    version = f"PyTorch {torch.__version__}"

    def open(self) -> None:
        self.values = self.dense()
        self.settings = {"sampler": "a permutation of NumPy, split in batches", "batch_size": None, "threads": 1}

    def single(self, row: int) -> Any:
        return self.values[row].copy()

    def batch_of(self, rows: Any) -> Any:
        return self.values[rows]

    def epoch(self) -> Iterator[Any]:
        return self.loader(0)

    def loader(self, workers: int) -> Any:
        return peer.shuffled_batches(Mapped(self.values), self.batch, workers)


if __name__ == "__main__":
    peer.run(Memmap)
