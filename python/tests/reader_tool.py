# SPDX-License-Identifier: Apache-2.0
"""A process that reads as a program in Java asks it to: the protocol is that of reader_tool.c."""

from __future__ import annotations

import struct
import sys
from tempfile import NamedTemporaryFile
from typing import BinaryIO

import numpy as np
from rows import PYTHON  # sets the path of the library

import ddstore

assert PYTHON
CODES: tuple[tuple[type[Exception], int], ...] = (
    (ddstore.HandleError, 2),
    (ddstore.StoreGoneError, 3),
    (ddstore.GrantError, 4),
    (ddstore.StoreLostError, 7),
    (TimeoutError, 8),
    (MemoryError, 10),
    (ValueError, 1),
    (IndexError, 1),
)


class Tool:
    def __init__(self, requests: BinaryIO, replies: BinaryIO) -> None:
        self.requests = requests
        self.replies = replies
        self.stores: dict[int, ddstore.Store] = {}

    def take(self, layout: str) -> tuple[int, ...]:
        return struct.unpack("=" + layout, self.requests.read(struct.calcsize("=" + layout)))

    def open(self) -> bytes:
        flags, size = self.take("II")
        with NamedTemporaryFile() as file:
            file.write(self.requests.read(size))
            file.flush()
            # Not attach: the contract itself makes the first read of a store.
            store = ddstore.Store(file.name, ports_only=flags == 1)
        number = min(set(range(len(self.stores) + 1)) - set(self.stores))
        self.stores[number] = store
        return struct.pack("=I", number)

    def read(self) -> bytes:
        number, deadline_ms, count = self.take("IqI")
        rows = np.frombuffer(self.requests.read(8 * count), np.int64)
        store = self.stores[number]
        batch = store.get_batch(rows, timeout=deadline_ms / 1000)
        reach = store.statistics()
        parts = [struct.pack("=4q", reach.segments, reach.mapped_segments, reach.mapped_rows, reach.remote_rows)]
        for values in batch.values():
            if isinstance(values, ddstore.Ragged):
                parts += [values.offsets.tobytes(), values.values.tobytes()]
            else:
                parts.append(values.tobytes())
        return b"".join(parts)

    def close(self) -> bytes:
        (number,) = self.take("I")
        self.stores.pop(number).close()
        return b""

    def run(self) -> None:
        calls = {b"o": self.open, b"r": self.read, b"c": self.close}
        while what := self.requests.read(1):
            try:
                code, result = 0, calls[what]()
            except tuple(kind for kind, _ in CODES) as e:
                code, result = next(code for kind, code in CODES if isinstance(e, kind)), str(e).encode()
            self.replies.write(struct.pack("=IQ", code, len(result)) + result)
            self.replies.flush()
        for store in self.stores.values():
            store.close()


if __name__ == "__main__":
    Tool(sys.stdin.buffer, sys.stdout.buffer).run()
