# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader over a tensor in memory, a batch by one call."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import peer
import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Any:
        return self.values[torch.from_numpy(rows)]


class Tensors(peer.Peer):
    version = f"PyTorch {torch.__version__}"

    def convert(self) -> None:
        self.values = torch.from_numpy(np.array(self.dense()))

    def open(self) -> None:
        self.out = torch.empty((self.batch, self.floats))
        self.settings = {
            "sampler": "a permutation of NumPy, split in batches",
            "batch_size": None,
            "threads": torch.get_num_threads(),
        }

    def single(self, row: int) -> Any:
        return self.values[row]

    def batch_of(self, rows: Any) -> Any:
        return torch.index_select(self.values, 0, torch.from_numpy(rows), out=self.out)

    def epoch(self) -> Iterator[Any]:
        return iter(self.loader(0))

    def loader(self, workers: int) -> Any:
        return peer.shuffled_batches(Rows(self.values), self.batch, workers)


if __name__ == "__main__":
    peer.run(Tensors)
