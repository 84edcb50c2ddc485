# SPDX-License-Identifier: Apache-2.0
"""Loss of what a reader reads from. PythonReaderTest.java kills and drops when this program asks for it."""

from __future__ import annotations

import threading
import time
import unittest

from rows import HANDLE, ROWS, StoreTest, ask, assert_batch

import ddstore
from ddstore import samplers

try:
    from ddstore.torch import StoreDataset, loader
except ModuleNotFoundError as e:
    raise unittest.SkipTest(f"needs PyTorch: {e}") from e

APPENDED = 100
WAIT_S = 60


class LossTest(StoreTest):
    def test_what_happens_to_a_store(self) -> None:
        """One test, because its steps follow each other."""
        rows = list(range(0, ROWS, 7))
        with ddstore.attach(HANDLE, ports_only=True, timeout=10) as remote:
            assert_batch(remote.get_batch(rows), rows)
            self.check_appended_rows(remote)
            ask("pause")
            with self.assertRaises(TimeoutError):
                remote.get_batch(rows, timeout=1)
            ask("continue")
            assert_batch(remote.get_batch(rows, timeout=WAIT_S), rows)
            errors: list[Exception] = []

            def read() -> None:
                try:
                    while True:
                        assert_batch(remote.get_batch(rows), rows)
                except Exception as e:
                    errors.append(e)

            thread = threading.Thread(target=read)
            thread.start()
            time.sleep(0.2)
            ask("kill")
            thread.join(WAIT_S)
            self.assertFalse(thread.is_alive())
            self.assertEqual([type(e) for e in errors], [ddstore.StoreLostError], errors)
            self.assertIsInstance(errors[0], ConnectionError)
            with self.assertRaises(ddstore.StoreLostError):
                for row in range(0, ROWS, ROWS // 20):
                    remote.get_batch([row])
            self.read_by_loader(remote)
            assert_batch(self.store.get_batch(rows), rows)
            ask("drop")
            for gone in (self.store, remote):
                self.assert_gone(gone)
            with self.assertRaises((ddstore.StoreGoneError, ddstore.StoreLostError, FileNotFoundError)):
                ddstore.attach(HANDLE, timeout=10)

    def check_appended_rows(self, remote: ddstore.Store) -> None:
        batches = loader(remote, samplers.sequential(batch_size=ROWS // 2, tail="keep"), prefetch=1)
        self.assertEqual(sum(len(batch["id"]) for batch in batches), ROWS)
        dataset = StoreDataset(ddstore.attach(HANDLE, ports_only=True))
        ask("append")
        end = time.monotonic() + WAIT_S
        while not remote.refresh() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(len(remote), ROWS + APPENDED)
        assert_batch(remote.get_batch([5, ROWS + APPENDED - 1]), [5, ROWS + APPENDED - 1])
        self.assertEqual(dataset[[ROWS]]["id"].tolist(), [ROWS])  # it reads the handle again, as workers must
        dataset.store.close()
        self.assertEqual(len(self.store), ROWS)
        self.assertEqual([row for batch in batches for row in batch["id"].tolist()], list(range(ROWS + APPENDED)))
        batches.close()

    def read_by_loader(self, remote: ddstore.Store) -> None:
        """Reads a lost store by threads, and with a handle of what is mapped."""
        with loader(remote, samplers.shuffled(1, batch_size=500)) as batches, self.assertRaises(ddstore.StoreLostError):
            for _ in batches:
                pass
        with loader(self.store, samplers.shuffled(1, batch_size=500), ["id"], prefetch=2) as batches:
            # Its threads open the handle, which may know by now that an owner is gone.
            try:
                found = [row for batch in batches for row in batch["id"].tolist()]
            except ddstore.StoreLostError:
                return
            self.assertEqual(sorted(found), list(range(ROWS)))

    def assert_gone(self, store: ddstore.Store) -> None:
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            try:
                assert_batch(store.get_batch([1, ROWS - 1]), [1, ROWS - 1])
            except (ddstore.StoreGoneError, ddstore.StoreLostError):
                return
        self.fail("rows of a dropped store can be read")


if __name__ == "__main__":
    unittest.main()
