# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader over a tensor in memory, a batch by one call."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import peer
import torch


class Tensors(peer.Peer):
    version = f"PyTorch {torch.__version__}"

    def convert(self) -> None:
        self.values = torch.from_numpy(np.array(self.dense()))

    def open(self) -> None:
        self.out = torch.empty((self.batch, self.floats))
        self.data_set = torch.utils.data.TensorDataset(self.values)
        self.settings = {
            "sampler": "torch.randperm, split in batches",
            "batch_size": None,
            "threads": torch.get_num_threads(),
        }

    def single(self, row: int) -> Any:
        return self.data_set[row][0]

    def batch_of(self, rows: Any) -> Any:
        return torch.index_select(self.values, 0, torch.from_numpy(rows), out=self.out)

    def epoch(self) -> Iterator[Any]:
        return self.loader(0)

    def loader(self, workers: int) -> Iterator[Any]:
        return (batch for (batch,) in peer.shuffled_batches(self.data_set, self.batch, workers))


if __name__ == "__main__":
    peer.run(Tensors)
