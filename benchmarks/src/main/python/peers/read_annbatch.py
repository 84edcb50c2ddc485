# SPDX-License-Identifier: Apache-2.0
"""annbatch: sparse rows of a matrix in the memory of its process."""

from collections.abc import Iterator
from typing import Any

import annbatch
import anndata
import numba  # noqa: F401 (annbatch needs it for rows in memory)
import peer
import scipy.sparse

PRELOADED_BATCHES = 16


class Annbatch(peer.Peer):
    version = annbatch.__version__

    def convert(self) -> None:
        columns, values, offsets = self.sparse_parts()
        shape = (self.rows, (peer.VALUES + 1) * 61)
        self.matrix = anndata.AnnData(scipy.sparse.csr_matrix((values, columns, offsets), shape))
        self.settings = {
            "from": "CSR in memory",
            "sparse-epoch": f"chunk_size 1, {PRELOADED_BATCHES} batches preloaded",
            "sparse-chunks": f"chunk_size {self.batch}, {PRELOADED_BATCHES} batches preloaded",
        }

    def batches(self, chunk: int) -> Iterator[peer.Sparse]:
        loader = annbatch.Loader(
            batch_size=self.batch,
            chunk_size=chunk,
            preload_nchunks=PRELOADED_BATCHES * self.batch // chunk,
            shuffle=True,
            preload_to_gpu=False,
        ).add_adata(self.matrix)
        for batch in loader:
            rows = batch["X"]
            yield rows.indices, rows.data, rows.indptr

    def sparse_epoch(self) -> Iterator[Any]:
        return self.batches(1)

    def sparse_chunks(self) -> Iterator[Any]:
        return self.batches(self.batch)


if __name__ == "__main__":
    peer.run(Annbatch)
