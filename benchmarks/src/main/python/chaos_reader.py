# SPDX-License-Identifier: Apache-2.0
"""Reads random rows by a handle for the command chaos, and prints them.

Usage: chaos_reader.py HANDLE SEED BATCHES. The first line of the output is the number of rows, each other one a row:
index, content, position, value, two numbers, text. Exits with 3 after an error that the package documents, whose name
and message are the last line.
"""

import random
import sys

import ddstore
from ddstore import errors

LEGAL = (errors.StoreGoneError, errors.StoreLostError, errors.GrantError, TimeoutError)
TIMEOUT_S = 10.0


def main() -> int:
    path, seed, batches = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    choose = random.Random(seed)
    try:
        with ddstore.attach(path, timeout=TIMEOUT_S, ports_only=choose.random() < 0.5) as store:
            print(len(store))
            for _ in range(batches if len(store) else 0):
                indices = [choose.randrange(len(store)) for _ in range(64)]
                batch = store.get_batch(indices)
                for i, index in enumerate(indices):
                    numbers = [int(batch[name][i]) for name in ("content", "position", "value")]
                    print(index, *numbers, *map(float, batch["x"][i]), batch["text"][i])
    except LEGAL as error:
        print("error", type(error).__name__, error)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
