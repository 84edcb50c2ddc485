# SPDX-License-Identifier: Apache-2.0
"""WebDataset: shards of tar in a local folder."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import peer
import webdataset

SHARD_ROWS = 5000
BUFFER_ROWS = 5000


def decode(data: bytes) -> Any:
    return np.frombuffer(data, np.float32)


class WebDataset(peer.Peer):
    version = webdataset.__version__

    def __init__(self, task: Any) -> None:
        super().__init__(task)
        self.rows = min(self.rows, task.slowRows)

    def convert(self) -> None:
        self.shards = -(-self.rows // SHARD_ROWS)
        with webdataset.ShardWriter(str(self.scratch / "%06d.tar"), maxcount=SHARD_ROWS, verbose=0) as writer:
            number = 0
            for part in peer.converted_parts(self):
                for row in part:
                    writer.write({"__key__": f"{number:09d}", "x.bin": row.tobytes()})
                    number += 1

    def open(self) -> None:
        self.settings = {
            "shuffle": f"approximate: {self.shards} shards, then a buffer of {BUFFER_ROWS} rows",
            "shardRows": SHARD_ROWS,
            "encoding": "bytes, by numpy.frombuffer; faster than .npy",
        }

    def pipeline(self) -> Any:
        urls = [str(self.scratch / f"{number:06d}.tar") for number in range(self.shards)]
        return (
            webdataset.WebDataset(urls, shardshuffle=self.shards, empty_check=False)
            .shuffle(BUFFER_ROWS)
            .to_tuple("x.bin")
            .map_tuple(decode)
            .batched(self.batch)
        )

    def epoch(self) -> Iterator[Any]:
        return (batch for (batch,) in self.pipeline())

    def loader(self, workers: int) -> Iterator[Any]:
        return (batch for (batch,) in webdataset.WebLoader(self.pipeline(), batch_size=None, num_workers=workers))


if __name__ == "__main__":
    peer.run(WebDataset)
