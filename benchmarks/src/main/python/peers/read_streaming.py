# SPDX-License-Identifier: Apache-2.0
"""MosaicML Streaming: shards of MDS in a local folder."""

import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import peer
import torch

# Needed by its readers of texts and images, which are not used here; they come with another PyTorch.
ABSENT = {
    "transformers": [],
    "transformers.feature_extraction_utils": ["BatchFeature"],
    "transformers.tokenization_utils_base": ["BatchEncoding"],
    "transformers.models": [],
    "transformers.models.auto": [],
    "transformers.models.auto.tokenization_auto": ["AutoTokenizer"],
    "torchvision": [],
    "torchvision.datasets": ["VisionDataset"],
    "torchvision.transforms": [],
    "torchvision.transforms.functional": ["to_tensor"],
}
for name, members in ABSENT.items():
    module = types.ModuleType(name)
    module.__dict__.update(__path__=[], **{member: type(member, (), {}) for member in members})
    sys.modules[name] = module

import streaming  # noqa: E402
from streaming.base.util import clean_stale_shared_memory  # noqa: E402


def collate(samples: Any) -> Any:
    return np.stack([sample["x"] for sample in samples])


class Streaming(peer.Peer):
    version = streaming.__version__

    def __init__(self, task: Any) -> None:
        super().__init__(task)
        self.rows = min(self.rows, task.slowRows)

    def convert(self) -> None:
        columns = {"x": f"ndarray:float32:{self.floats}"}
        with streaming.MDSWriter(out=str(self.scratch / "mds"), columns=columns) as writer:
            for part in peer.converted_parts(self):
                for row in part:
                    writer.write({"x": row})

    def open(self) -> None:
        clean_stale_shared_memory()
        self.data = streaming.StreamingDataset(local=str(self.scratch / "mds"), shuffle=True, batch_size=self.batch)
        self.settings = {
            "shuffle": f"{self.data.shuffle_algo}, blocks of {self.data.shuffle_block_size or 'default size'}",
            "cache_limit": self.data.cache_limit,
            "predownload": self.data.predownload,
            "compression": None,
            "collate_fn": "numpy.stack",
        }

    def single(self, row: int) -> Any:
        return self.data[row]["x"]

    def batch_of(self, rows: Any) -> Any:
        return collate(self.data[rows.tolist()])

    def epoch(self) -> Iterator[Any]:
        return iter(self.batches(0))

    def loader(self, workers: int) -> Any:
        self.open()  # what has begun an epoch in this process hangs in workers
        return self.batches(workers)

    def batches(self, workers: int) -> Any:
        return torch.utils.data.DataLoader(self.data, batch_size=self.batch, num_workers=workers, collate_fn=collate)

    def close(self) -> None:
        del self.data
        clean_stale_shared_memory()


if __name__ == "__main__":
    peer.run(Streaming)
