# SPDX-License-Identifier: Apache-2.0
"""The limit: numpy.take from rows in mapped memory, into one destination."""

from typing import Any

import numpy as np
import peer


class Take(peer.Peer):
    version = f"NumPy {np.__version__}"

    def open(self) -> None:
        self.values = self.dense().view(np.ndarray)
        self.values.sum()  # the first touch of a page costs more
        self.out = np.empty((self.batch, self.floats), np.float32)
        self.settings = {"out": "reused", "mode": "clip"}

    def batch_of(self, rows: Any) -> Any:
        return np.take(self.values, rows, axis=0, out=self.out[: len(rows)], mode="clip")

    def single(self, row: int) -> Any:
        return self.values[row].copy()

    def epoch(self) -> Any:
        order = np.random.default_rng().permutation(self.rows)
        return (self.batch_of(order[at : at + self.batch]) for at in range(0, self.rows, self.batch))


if __name__ == "__main__":
    peer.run(Take)
