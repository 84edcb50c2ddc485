# SPDX-License-Identifier: Apache-2.0
"""A store, by the Python package and its loader."""

from collections.abc import Iterator
from typing import Any

import ddstore
import ddstore.torch
import peer
import torch
from ddstore import samplers

FIELD = "x"
WINDOW_BLOCKS = 32


class DDStore(peer.Peer):
    version = "of this checkout"

    def open(self) -> None:
        self.close()
        self.store = ddstore.attach(self.task.handle)
        self.cells = ddstore.attach(self.task.sparseHandle)
        self.out = torch.empty((self.batch, self.floats)).numpy()  # aligned to 64 bytes
        self.settings = {
            "shuffle": "full, samplers.shuffled",
            "sparse-chunks": f"samplers.chunked, blocks of {self.batch} rows, windows of {WINDOW_BLOCKS}",
            "memory": "rows in the memory of executors, which is not counted",
        }
        self.loaders = {
            name: ddstore.torch.loader(store, sampler)
            for name, store, sampler in [
                ("dense", self.store, samplers.shuffled(1, global_batch_size=self.batch, tail="keep")),
                ("sparse", self.cells, samplers.shuffled(1, global_batch_size=self.batch, tail="keep")),
                (
                    "chunks",
                    self.cells,
                    samplers.chunked(1, self.batch, WINDOW_BLOCKS, global_batch_size=self.batch, tail="keep"),
                ),
            ]
        }

    def close(self) -> None:
        for loader in getattr(self, "loaders", {}).values():
            loader.close()
        if hasattr(self, "store"):
            self.store.close()
            self.cells.close()

    def single(self, row: int) -> Any:
        return self.store[row][FIELD]

    def batch_of(self, rows: Any) -> Any:
        return self.store.get_batch(rows, out={FIELD: self.out})[FIELD]

    def epoch(self) -> Iterator[Any]:
        return (batch[FIELD] for batch in self.loaders["dense"])

    def loader(self, workers: int) -> Iterator[Any]:
        data_set = ddstore.torch.StoreDataset(self.store, fields=[FIELD])
        sampler = ddstore.torch.BatchSampler(data_set, samplers.shuffled(1, global_batch_size=self.batch, tail="keep"))
        loader = torch.utils.data.DataLoader(data_set, sampler=sampler, batch_size=None, num_workers=workers)
        return (batch[FIELD] for batch in loader)

    def sparse_batch(self, rows: Any) -> peer.Sparse:
        batch = self.cells.get_batch(rows)
        return batch["columns"].values, batch["data"].values, batch["data"].offsets

    def sparse_epoch(self) -> Iterator[peer.Sparse]:
        return self.cells_of("sparse")

    def sparse_chunks(self) -> Iterator[peer.Sparse]:
        return self.cells_of("chunks")

    def cells_of(self, name: str) -> Iterator[peer.Sparse]:
        for batch in self.loaders[name]:
            values = batch["data"]
            yield batch["columns"].values.numpy(), values.values.numpy(), values.offsets.numpy()


if __name__ == "__main__":
    peer.run(DDStore)
