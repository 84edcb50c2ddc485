# SPDX-License-Identifier: Apache-2.0
"""Orders and receipts; the orders themselves are compared with those of Java by the tests of the library in C."""

from __future__ import annotations

import pickle
import unittest
from typing import Any

import numpy as np
import numpy.typing as npt
from rows import PYTHON  # sets the path of the library

from ddstore import samplers

ROWS = 1000
LABELS = np.arange(ROWS) % 5
assert PYTHON


def receipt(epochs: list[samplers.Epoch]) -> samplers.Receipt:
    """Adds up the sums of all ranks."""
    sums: list[npt.NDArray[np.int64]] = []

    def keep(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        sums.append(values.copy())
        return values

    for epoch in epochs:
        epoch.receipt(keep)
    return epochs[0].receipt(lambda _: np.sum(sums, axis=0))


def read(world: int, make: Any, first: int = 0, last: int | None = None, **batching: Any) -> Any:
    """Returns the epochs of all ranks and the rows of their global batches, without padding."""
    epochs = []
    parts: list[list[Any]] = []
    for rank in range(world):
        sampler = make(global_batch_size=24, rank=rank, world=world, **batching)
        sampler.set_epoch(3)
        epoch = sampler.batches(ROWS)
        epoch.resume(first)
        epochs.append(epoch)
        parts.append([])
        for number in range(first, len(epoch) if last is None else last):
            rows, samples, padding = epoch.batch(number)
            epoch.deliver(samples, padding)
            parts[rank].append(rows[: len(rows) - padding])
    return epochs, [np.concatenate(batch).tolist() for batch in zip(*parts, strict=True)]


class SamplersTest(unittest.TestCase):
    def test_each_row_once_on_any_number_of_ranks(self) -> None:
        for make in (
            samplers.sequential,
            lambda **batching: samplers.shuffled(-3, **batching),
            lambda **batching: samplers.chunked(1, 4, 6, **batching),
            lambda **batching: samplers.class_balanced(7, LABELS, **batching),
            lambda **batching: samplers.weighted(7, np.ones(ROWS), replacement=False, **batching),
        ):
            for tail, count in (("drop", 984), ("keep", ROWS), ("pad", ROWS)):
                epochs, one = read(1, make, tail=tail)
                rows = [row for batch in one for row in batch]
                self.assertEqual((len(rows), len(set(rows))), (count, count), epochs[0])
                for world in (2, 3):
                    epochs, several = read(world, make, tail=tail)
                    self.assertEqual(several, one)
                    got = receipt(epochs)
                    self.assertTrue(got.exact, got)
                    self.assertEqual((got.samples, got.delivered, got.dropped), (ROWS, count, ROWS - count))

    def test_a_receipt_tells_what_is_lost_and_repeated(self) -> None:
        epochs, _ = read(2, lambda **batching: samplers.shuffled(1, **batching), last=3)
        self.assertGreaterEqual(receipt(epochs).lost, 1)
        epochs, _ = read(2, lambda **batching: samplers.shuffled(1, **batching))
        epochs[1].deliver(epochs[1].batch(0)[1])
        got = receipt(epochs)
        self.assertFalse(got.exact)
        self.assertIn("repeated", str(got))

    def test_a_training_moves_to_another_number_of_ranks(self) -> None:
        def make(**batching: Any) -> samplers.Sampler:
            return samplers.shuffled(5, **batching).within(range(100, 900))

        _, whole = read(1, make)
        _, begun = read(3, make, last=11)
        epochs, rest = read(2, make, first=11)
        self.assertEqual(begun + rest, whole)
        self.assertTrue(receipt(epochs).exact)

    def test_epochs_differ_and_weights_count(self) -> None:
        sampler = samplers.weighted(5, np.arange(ROWS) % 2, batch_size=100)
        rows = np.concatenate(list(sampler.batches(ROWS)))
        self.assertEqual((len(rows), set(rows % 2)), (ROWS, {1}))
        self.assertNotEqual(rows.tolist(), np.concatenate(list(sampler.batches(ROWS, 1))).tolist())

    def test_types_of_weights_and_labels(self) -> None:
        def rows(make: Any, values: Any) -> Any:
            return make(5, values, batch_size=100).batches(ROWS)[0].tolist()

        for make, types in ((samplers.weighted, ("f2", ">f2", ">f8", "u1")), (samplers.class_balanced, (">i8", "u2"))):
            for name in types:
                self.assertEqual(rows(make, LABELS.astype(name)), rows(make, LABELS), name)

    def test_illegal_arguments(self) -> None:
        for call in (
            lambda: samplers.shuffled(1),
            lambda: samplers.shuffled(1, batch_size=1, global_batch_size=1),
            lambda: samplers.shuffled(1, batch_size=0),
            lambda: samplers.shuffled(1, batch_size=1, rank=1),
            lambda: samplers.shuffled(1, batch_size=1, rank=2, world=2).batches(ROWS),
            lambda: samplers.shuffled(1, batch_size=1, tail="no"),
            lambda: samplers.shuffled(1, batch_size=1).set_epoch(-1),
            lambda: samplers.weighted(1, [-1.0], batch_size=1),
            lambda: samplers.shuffled(1, batch_size=1, rank=0, world=2).batches(ROWS).receipt(),
            lambda: samplers.shuffled(2**63, batch_size=1),
            lambda: samplers.shuffled(1, batch_size=2**64 + 4),
            lambda: samplers.shuffled(1, batch_size=1, rank=2**32, world=2**32 + 1),
            lambda: samplers.shuffled(1, batch_size=1).batches(ROWS, 2**64),
            lambda: samplers.weighted(1, np.ones((ROWS, 2)), batch_size=1),
            lambda: samplers.class_balanced(1, np.eye(5), batch_size=1),
            lambda: samplers.class_balanced(1, [2**32 + 1, 0], batch_size=1),
            lambda: samplers.class_balanced(1, [0.5, 1.5], batch_size=1),
            lambda: samplers.sequential(batch_size=1).within([[1, 2], [3, 4]]),  # type: ignore[list-item]
            lambda: samplers.sequential(batch_size=1).within(np.array([False, True])),
            lambda: samplers.sequential(batch_size=1).batches(ROWS).receipt(lambda _: np.zeros(0, np.int64)),
            lambda: samplers.sequential(batch_size=1).batches(ROWS).receipt(lambda sums: sums * 1.0),
        ):
            with self.assertRaises(ValueError):
                call()
        for wrong_type in (
            lambda: samplers.shuffled(1.5, batch_size=1),  # type: ignore[arg-type]
            lambda: samplers.sequential(batch_size=1).batches(ROWS).receipt(5),
            lambda: samplers.sequential(batch_size=1).set_epoch(1.5),  # type: ignore[arg-type]
            lambda: pickle.dumps(samplers.sequential(batch_size=1)),
        ):
            with self.assertRaises(TypeError):
                wrong_type()
        with self.assertRaises(IndexError):
            samplers.sequential(batch_size=10).batches(ROWS)[100]


if __name__ == "__main__":
    unittest.main()
