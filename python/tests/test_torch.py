# SPDX-License-Identifier: Apache-2.0
"""Batches as tensors: loaders with threads, and a DataLoader with worker processes."""

from __future__ import annotations

import os
import re
import signal
import threading
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
from rows import EMPTY, HANDLE, LARGE, ROWS, SCHEMA, StoreTest, assert_batch, assert_same, bfloat16, fixed

import ddstore
from ddstore import samplers

try:
    import torch
    from torch.utils.data import DataLoader, Subset

    from ddstore.torch import BatchSampler, Loader, RaggedTensor, StoreDataset, _java_hex, loader
except ModuleNotFoundError as e:
    raise unittest.SkipTest(f"needs PyTorch: {e}") from e

BATCH = 96


def shuffled(rank: int = 0, world: int = 1, **batching: Any) -> samplers.Sampler:
    return samplers.shuffled(42, global_batch_size=BATCH, rank=rank, world=world, **batching)


def arrays(batch: Any) -> dict[str, Any]:
    """Returns a batch of tensors as one of arrays."""
    result = {}
    for name, value in batch.items():
        if isinstance(value, RaggedTensor):
            result[name] = ddstore.Ragged(array(value.values), value.offsets.numpy())
        else:
            result[name] = array(value) if isinstance(value, torch.Tensor) else value
    return result


def array(tensor: Any) -> Any:
    return tensor.view(torch.int16).numpy().view(np.uint16) if tensor.dtype == torch.bfloat16 else tensor.numpy()


def checked(batch: Any, names: Any = None) -> list[int]:
    """Compares a batch with what its rows have; returns their numbers."""
    rows = batch["id"].tolist()
    assert_batch(arrays(batch), rows, names)
    return list(rows)


def expected(first: int = 0, epoch: int = 0, **batching: Any) -> list[list[int]]:
    """Returns the rows of the global batches of an epoch."""
    batches = shuffled(**batching).batches(ROWS, epoch)
    return [batches[number].tolist() for number in range(first, len(batches))]


def receipt(ranks: list[Loader]) -> samplers.Receipt:
    """Adds up the sums of all ranks."""
    sums: list[Any] = []

    def keep(values: Any) -> Any:
        sums.append(values.copy())
        return values

    for rank in ranks:
        rank.receipt(keep)
    return ranks[0].receipt(lambda _: np.sum(sums, axis=0))


def loading_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("ddstore-loader")]


class LoaderTest(StoreTest):
    def test_epochs_follow_each_other(self) -> None:
        for options in ({}, {"prefetch": 0}, {"prefetch": 1}, {"prefetch": 5, "threads": 3}):
            with loader(self.store, shuffled(tail="keep"), **options) as batches:  # type: ignore[arg-type]
                self.assertEqual(len(batches), -(-ROWS // BATCH))
                for epoch in range(2):
                    found = [checked(batch) for batch in batches if batch["id"].tolist() == batches.rows.tolist()]
                    self.assertEqual(found, expected(epoch=epoch, tail="keep"))
                    self.assertTrue(batches.receipt().exact)
                    self.assertEqual(loading_threads(), [])

    def test_tensors_share_memory_and_have_the_types_of_torch(self) -> None:
        batch = next(iter(loader(self.store, shuffled(), cast={"m": "bfloat16"})))
        for name, kind, dtype, shape in SCHEMA:
            if kind == "fixed":
                self.assertEqual(batch[name].dtype, torch.bfloat16 if name == "m" else getattr(torch, dtype))
                self.assertEqual(tuple(batch[name].shape), (BATCH, *shape))
        assert_same(array(batch["m"]), bfloat16(fixed("m", batch["id"].tolist())))
        self.assertEqual(batch["p"].values.shape[1:], (2,))
        dataset = StoreDataset(self.store, ["f32"])
        read = self.store._batch
        kept: dict[str, Any] = {}

        def get_batch(*arguments: Any) -> Any:
            kept.update(read(*arguments))
            return kept

        with mock.patch.object(self.store, "_batch", get_batch):
            tensor = dataset[[1, 2]]["f32"]
        self.assertEqual(tensor.data_ptr(), kept["f32"].ctypes.data)

    def test_a_loop_that_is_left_continues_exactly_also_on_other_ranks(self) -> None:
        for prefetch in (0, 3):
            batches = loader(self.store, shuffled(), prefetch=prefetch)
            batches.set_epoch(5)
            begun = []
            for batch in batches:
                begun.append(checked(batch))
                if len(begun) == 7:
                    break
            self.assertEqual(loading_threads(), [])
            state = batches.state_dict()
            self.assertIn('"e":5,"b":7,', state["ddstore"])
            ranks = [loader(self.store.copy(), shuffled(rank, 3), prefetch=prefetch) for rank in range(3)]
            for rank in ranks:
                rank.load_state_dict(state)
                self.assertEqual(rank.state_dict(), state)
            rest = [[row for part in parts for row in checked(part)] for parts in zip(*ranks, strict=True)]
            self.assertEqual(begun + rest, expected(epoch=5))
            self.assertTrue(receipt(ranks).exact)
            batches.load_state_dict(state)
            self.assertEqual([checked(batch) for batch in batches], rest)
            self.assertIn('"e":6,"b":0,', batches.state_dict()["ddstore"])
            for rank in ranks:
                rank.close()
                rank.store.close()
            batches.close()

    def test_a_loaded_state_ends_the_running_loop(self) -> None:
        dataset = StoreDataset(self.store)
        counted = BatchSampler(dataset, shuffled())
        plain = DataLoader(dataset, sampler=counted, batch_size=None)
        threads = loader(self.store, shuffled(), prefetch=2)
        cases: Any = ((threads, lambda: threads), (counted, lambda: counted.deliver(plain)))
        for batches, begin in cases:
            state = batches.state_dict()
            loop = iter(begin())
            for _ in range(3):
                next(loop)
            batches.load_state_dict(state)
            with self.assertRaisesRegex(RuntimeError, "loop has ended"):
                next(loop)
            self.assertEqual(batches.state_dict(), state)
            self.assertEqual([checked(batch) for batch in begin()], expected())
        threads.close()
        plain.in_order = False  # as torch 2 can
        with self.assertRaisesRegex(ValueError, "in_order"):
            next(counted.deliver(plain))

    def test_a_loop_with_threads_is_refused_after_a_fork(self) -> None:
        with loader(self.store, shuffled(), prefetch=2) as batches:
            loop = iter(batches)
            next(loop)
            child = os.fork()
            if child == 0:
                try:
                    next(loop)
                except RuntimeError as e:
                    os._exit(0 if "forked" in str(e) else 2)
                finally:
                    os._exit(1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            checked(next(loop))

    def test_states_of_another_configuration_are_refused(self) -> None:
        state = loader(self.store, shuffled()).state_dict()
        for other, words in (
            (loader(self.store, samplers.shuffled(43, global_batch_size=BATCH)), "sampling"),
            (loader(self.store, shuffled(), fields=["id"]), "fields"),
            (loader(self.store, shuffled(), cast={"m": "bfloat16"}), "casts"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                other.load_state_dict(state)
        changed = {"ddstore": state["ddstore"].replace('"b":0', '"b":1')}
        with self.assertRaisesRegex(ValueError, "changed"):
            loader(self.store, shuffled()).load_state_dict(changed)

    @unittest.skipUnless("DDSTORE_STATE" in os.environ, "needs a state of Java: run by Maven")
    def test_states_are_those_of_java(self) -> None:
        batches = loader(self.store, shuffled(), ["id", "m", "i8"], cast={"m": ("bfloat16", 0.3), "i8": "float32"})
        state = {"ddstore": os.environ["DDSTORE_STATE"]}
        batches.load_state_dict(state)
        self.assertEqual(batches.state_dict(), state)
        self.assertEqual([batch["id"].tolist() for batch in batches], expected(first=4, epoch=2))

    def test_scales_are_written_as_java_does(self) -> None:
        texts = {1.0: "0x1.0p0", -0.25: "-0x1.0p-2", 1 / 255: "0x1.010102p-8", 2.0**-149: "0x0.000002p-126"}
        for scale, text in texts.items():
            self.assertEqual(_java_hex(scale), text)

    def test_errors_reach_the_loop(self) -> None:
        def transform(batch: Any) -> Any:
            if 500 in batch["id"]:
                raise KeyError("a transform's error")
            return batch

        for prefetch in (0, 2):
            batches = loader(self.store, samplers.sequential(batch_size=100), transform=transform, prefetch=prefetch)
            loop = iter(batches)
            found = []
            with self.assertRaisesRegex(KeyError, "a transform's error"):
                for batch in loop:
                    found += checked(batch)
            self.assertEqual(found, list(range(500)))
            with self.assertRaisesRegex(RuntimeError, "KeyError"):
                next(loop)
            self.assertEqual(loading_threads(), [])
            batches.load_state_dict(batches.state_dict())
            self.assertIn('"b":5', batches.state_dict()["ddstore"])
            outer = iter(batches)
            inner = iter(batches)
            with self.assertRaisesRegex(RuntimeError, "began another"):
                next(outer)
            self.assertEqual(checked(next(inner))[0], 0)
            batches.close()

    def test_the_last_padding_is_known(self) -> None:
        batches = loader(self.store, shuffled(tail="pad"))
        paddings = [batches.padding for _ in batches]
        self.assertEqual(paddings, [0] * (ROWS // BATCH) + [BATCH - ROWS % BATCH])

    def test_results_are_copied_to_the_device(self) -> None:
        batches = loader(self.store, shuffled(), ["id", "w", "t"], device="meta", transform=lambda batch: (batch, [1]))
        tensors, rest = next(iter(batches))
        self.assertEqual((tensors["id"].device.type, tensors["w"].values.device.type, rest), ("meta", "meta", [1]))
        self.assertEqual(len(tensors["t"]), BATCH)
        batches.close()


class DataLoaderTest(StoreTest):
    def test_workers_of_all_start_methods_and_exact_states(self) -> None:
        dataset = StoreDataset(self.store)
        for method, workers, persistent in (
            (None, 0, False),
            ("fork", 2, False),
            ("fork", 2, True),
            ("spawn", 2, True),
            ("forkserver", 2, True),
        ):
            sampler = BatchSampler(dataset, shuffled())
            batches = DataLoader(
                dataset,
                sampler=sampler,
                batch_size=None,
                num_workers=workers,
                multiprocessing_context=method,
                persistent_workers=persistent,
                worker_init_fn=seed if workers else None,
            )
            begun = []
            for batch in sampler.deliver(batches):
                begun.append(checked(batch))
                if len(begun) == 9:
                    break
            state = sampler.state_dict()
            self.assertIn('"e":0,"b":9,', state["ddstore"])
            self.assertEqual(begun, expected()[:9])
            sampler.load_state_dict(state)
            self.assertEqual([checked(batch) for batch in sampler.deliver(batches)], expected(9))
            self.assertTrue(sampler.receipt().exact)
            self.assertEqual([checked(batch) for batch in sampler.deliver(batches)], expected(epoch=1))
            with self.assertRaisesRegex(ValueError, "deliver"):
                next(iter(batches))
                sampler.state_dict()
            del batches

    def test_batches_of_rows(self) -> None:
        dataset = StoreDataset(self.store)
        for index in (5, -1):
            row = dataset[index]
            self.assertEqual(tuple(row["m"].shape), (2, 3))
            checked(dataset.collate_fn([row, dataset[0]]))
        with self.assertRaises(IndexError):
            dataset[ROWS]
        sampler = BatchSampler(dataset, shuffled())
        for batches, rows in (
            (DataLoader(dataset, batch_sampler=sampler, collate_fn=dataset.collate_fn), expected()),
            (
                DataLoader(Subset(dataset, range(50, 250)), batch_size=100, collate_fn=dataset.collate_fn),
                [list(range(50, 150)), list(range(150, 250))],
            ),
        ):
            self.assertEqual([checked(batch) for batch in batches], rows)
        single = torch.utils.data._utils.fetch._MapDatasetFetcher(Single(dataset), True, dataset.collate_fn, False)
        self.assertEqual(checked(single.fetch([4, 9, 0])), [4, 9, 0])

    def test_a_killed_worker_ends_the_loop_and_no_other(self) -> None:
        dataset = StoreDataset(self.store)
        sampler = BatchSampler(dataset, shuffled())
        batches = DataLoader(dataset, sampler=sampler, batch_size=None, num_workers=2, worker_init_fn=note_pid)
        with TemporaryDirectory() as directory:
            os.environ["DDSTORE_TEST_PIDS"] = directory
            found = []
            states = []
            killed = 0
            with self.assertRaises((RuntimeError, OSError, EOFError)):  # whichever torch meets first
                for batch in sampler.deliver(batches):
                    found.append(checked(batch))
                    states.append(sampler.state_dict())
                    if len(found) == 5:
                        killed = int(next(Path(directory).iterdir()).name)
                        os.kill(killed, signal.SIGKILL)
            for left in Path("/dev/shm").glob(f"torch_{killed}_*"):
                left.unlink()  # of torch, which creates a file before it unlinks it
            sampler.load_state_dict(states[-1])
            found = found[: len(states)] + [checked(batch) for batch in sampler.deliver(batches)]
            self.assertEqual(found, expected())

    def test_receipts_over_torch_distributed(self) -> None:
        context = torch.multiprocessing.get_context("fork")
        with TemporaryDirectory() as directory:
            ranks = [context.Process(target=train, args=(rank, directory), daemon=True) for rank in range(2)]
            for rank in ranks:
                rank.start()
            for rank in ranks:
                rank.join(120)
            self.assertEqual([rank.exitcode for rank in ranks], [0, 0])


class MemoryTest(StoreTest):
    def test_no_rows(self) -> None:
        with ddstore.attach(EMPTY) as store:
            dataset = StoreDataset(store)
            with self.assertRaisesRegex(ValueError, "0 rows .* keep or pad the tail"):
                iter(loader(store, shuffled()))
            for tail in ("keep", "pad"):
                for prefetch in (0, 2):
                    with loader(store, shuffled(tail=tail), prefetch=prefetch) as batches:
                        self.assertEqual((len(batches), list(batches)), (0, []))
                        self.assertTrue(batches.receipt().exact)
                for workers in (0, 2):
                    sampler = BatchSampler(dataset, shuffled(tail=tail))
                    found = DataLoader(dataset, sampler=sampler, batch_size=None, num_workers=workers)
                    self.assertEqual(list(sampler.deliver(found)), [])
                    self.assertTrue(sampler.receipt().exact)

    def test_workers_share_the_rows(self) -> None:
        with ddstore.attach(LARGE) as store:
            alone = shared_bytes([os.getpid()])
            dataset = StoreDataset(store)
            sampler = BatchSampler(dataset, samplers.shuffled(1, batch_size=128))
            batches = DataLoader(dataset, sampler=sampler, batch_size=None, num_workers=8)
            workers: list[int] = []
            seen = private = shared = 0
            for number, batch in enumerate(sampler.deliver(batches), 1):
                seen += int(batch["x"][:, 255].sum())
                if number == 64:
                    workers = [worker.pid for worker in torch.multiprocessing.active_children()]
                    private = private_bytes(workers)
                if number in (64, len(sampler) - 64):
                    shared = max(shared, shared_bytes([os.getpid(), *workers]) - alone)
                if number == len(sampler) - 64:
                    private = private_bytes(workers) - private
            size = 1024 * len(store)
            self.assertEqual((len(workers), seen), (8, len(store) * (len(store) - 1) // 2))
            self.assertGreaterEqual(alone, size)
            self.assertLess(private, 0.05 * size)
            self.assertLess(shared, 0.05 * size)


def private_bytes(processes: list[int]) -> int:
    """Returns the memory that each of these processes has for itself."""
    texts = [Path(f"/proc/{process}/smaps_rollup").read_text() for process in processes]
    return sum(int(size) << 10 for text in texts for size in re.findall(r"Private_\w+: +(\d+) kB", text))


def shared_bytes(processes: list[int]) -> int:
    """Returns the size of the files in shared memory that these processes have mapped, each counted once."""
    files = {}
    for process in processes:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            addresses, _, offset, _, inode, *path = line.split(maxsplit=5)
            if path and path[0].startswith("/dev/shm/"):
                begin, end = (int(address, 16) for address in addresses.split("-"))
                files[inode, offset] = end - begin
    return sum(files.values())


class LoaderOverPortsTest(LoaderTest):
    ports_only = True


class DataLoaderOverPortsTest(DataLoaderTest):
    ports_only = True


class Single(torch.utils.data.Dataset):  # type: ignore[misc]
    """A data set without __getitems__, as torch before 2.0 treats all."""

    def __init__(self, dataset: StoreDataset) -> None:
        self.dataset = dataset

    def __getitem__(self, index: int) -> Any:
        return self.dataset[index]


def seed(worker: int) -> None:
    np.random.seed(worker)


def note_pid(_: int) -> None:
    Path(os.environ["DDSTORE_TEST_PIDS"], str(os.getpid())).touch()


def train(rank: int, directory: str) -> None:
    torch.distributed.init_process_group("gloo", f"file://{directory}/meeting", rank=rank, world_size=2)
    with ddstore.attach(HANDLE) as store:
        batches = loader(store, samplers.shuffled(42, batch_size=50))
        assert batches.sampler.world == 2
        for batch in batches:
            checked(batch)
        receipt = batches.receipt(torch.distributed)
        assert receipt.exact and receipt.delivered == ROWS, receipt
    # The process ends without destroy_process_group, whose wait for its threads does not always end in torch 2.5.


if __name__ == "__main__":
    unittest.main()
