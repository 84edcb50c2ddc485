# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of ranks that are threads, of processes that are killed, and of Java (PythonReaderTest.java)."""

from __future__ import annotations

import io
import logging
import os
import random
import signal
import sys
import threading
import unittest
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rows import PYTHON  # sets the path of the library

from ddstore.checkpoint import Checkpoint, CheckpointError, Checkpoints, CorruptCheckpointError
from ddstore.errors import CorruptCheckpointError as Corrupt

assert PYTHON and Corrupt is CorruptCheckpointError
LENGTHS = (0, 1, 4096, 4097, 30_000)
WAIT_S = 60


def state(batch: int) -> dict[str, str]:
    return {"ddstore": f'{{"v":2,"e":1,"b":{batch}}}'}


def content(seed: int, rank: int, length: int) -> bytes:
    return random.Random(seed * 1000 + rank).randbytes(length)


def on_ranks(world: int, folder: Path, work: Callable[[Checkpoints], Any], **options: Any) -> list[Any]:
    """Runs work on ranks that are threads; returns what each returns or raises."""
    barrier = threading.Barrier(world, timeout=WAIT_S)
    sent: list[bytes] = [b""] * world
    outcomes: list[Any] = [None] * world

    def run(rank: int) -> None:
        def gather(own: bytes) -> list[bytes]:
            sent[rank] = own
            barrier.wait()
            result = list(sent)
            barrier.wait()
            return result

        try:
            outcomes[rank] = work(
                Checkpoints(folder, rank=rank, world=world, chunk_size=4096, all_gather=gather, **options)
            )
        except Exception as e:
            outcomes[rank] = e

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(world)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def save(checkpoints: Checkpoints, seed: int) -> int:
    with checkpoints.save(state(seed)) as to:
        for i, length in enumerate(LENGTHS):
            with to.writer(f"stream{i}.rank{checkpoints.rank}") as file:
                whole = content(seed, checkpoints.rank, length)
                file.write(whole[:10])
                file.write(memoryview(whole)[10:])
    return to.number


def check(saved: Checkpoint | None) -> int:
    """Compares all streams with what save writes; returns the seed."""
    assert saved is not None
    seed = int(saved.state["ddstore"].rpartition(":")[2][:-1])
    assert saved.streams == sorted(f"stream{i}.rank{rank}" for i in range(len(LENGTHS)) for rank in range(saved.ranks))
    for i, length in enumerate(LENGTHS):
        for rank in range(saved.ranks):
            name = f"stream{i}.rank{rank}"
            assert saved.length(name) == length
            assert saved.read(name) == content(seed, rank, length), (seed, name)
    return seed


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


class CheckpointTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name) / "checkpoints"

    def alone(self, **options: Any) -> Checkpoints:
        return Checkpoints(self.folder, rank=0, world=1, chunk_size=4096, **options)

    def only(self, pattern: str) -> Path:
        (path,) = self.folder.glob(pattern)
        return path

    def test_any_number_of_ranks_reads_the_newest(self) -> None:
        self.assertEqual(on_ranks(2, self.folder, Checkpoints.latest), [None, None])

        numbers = on_ranks(2, self.folder, lambda ranks: [save(ranks, seed) for seed in (5, 6, 7)], keep=2)

        self.assertEqual(numbers, [[1, 2, 3]] * 2)
        for world in (1, 2, 3):
            self.assertEqual(on_ranks(world, self.folder, lambda ranks: check(ranks.latest())), [7] * world)
        alone = self.alone()
        self.assertEqual(alone.numbers(), [2, 3])
        self.assertEqual(check(alone.open(2)), 6)
        with self.assertRaisesRegex(ValueError, r"no checkpoint 1 in .*: the numbers are \[2, 3\]"):
            alone.open(1)
        self.assertEqual(len(self.files_without_claims()), 2 * (1 + 2 * (0 + 1 + 1 + 2 + 8)))
        save(alone, 8)  # by another number of ranks, of which the first writer has not heard
        self.assertEqual(alone.numbers(), [2, 3, 4])
        save(self.alone(keep=1), 9)
        self.assertEqual(self.alone().numbers(), [5])
        self.assertEqual(len(self.files_without_claims()), 1 + 12)

    def files_without_claims(self) -> list[str]:
        return [file for file in files(self.folder) if not file.endswith("claim")]

    def test_file_objects(self) -> None:
        import pickle

        import numpy as np

        arrays: dict[str, Any] = {"x": np.arange(5000.0), "y": np.zeros((0, 3))}
        checkpoints = self.alone()
        with checkpoints.save(state(1)) as to:
            with to.writer("arrays") as file:
                np.savez(file, **arrays)
            with to.writer("pickle") as file:
                pickle.dump([1, 2], file)
        saved = checkpoints.latest()
        assert saved is not None
        with np.load(saved.reader("arrays")) as found:
            self.assertEqual(found["x"].tobytes(), arrays["x"].tobytes())
            self.assertEqual(found["y"].shape, (0, 3))
        self.assertEqual(pickle.loads(saved.read("pickle")), [1, 2])
        expected = io.BytesIO(saved.read("arrays"))
        reader = saved.reader("arrays")
        for position, whence, count in ((-9, 2, 20), (4090, 0, 12), (0, 0, 3), (5000, 1, 4100), (10**6, 0, 1)):
            self.assertEqual(reader.seek(position, whence), expected.seek(position, whence))
            self.assertEqual(reader.read(count), expected.read(count))
        with self.assertRaisesRegex(ValueError, r"no stream \"model\": it has \['arrays', 'pickle'\]"):
            saved.reader("model")

    def test_torch_saves_and_loads(self) -> None:
        try:
            import torch
        except ModuleNotFoundError as e:
            self.skipTest(f"needs PyTorch: {e}")
        model = torch.nn.Linear(300, 40)
        checkpoints = self.alone()
        with checkpoints.save(state(1)) as to, to.writer("model") as file:
            torch.save(model.state_dict(), file)
        saved = checkpoints.latest()
        assert saved is not None
        found = torch.load(saved.reader("model"), weights_only=True)
        self.assertTrue(torch.equal(found["weight"], model.weight))

    def test_killed_writers_leave_the_last_checkpoint(self) -> None:
        logging.disable(logging.WARNING)  # of manifests that are not complete
        self.addCleanup(logging.disable, logging.NOTSET)
        save(self.alone(), 1)  # makes tables of checksums, which children then have
        seed = random.SystemRandom().randrange(10**9)
        choose = random.Random(seed)
        saved = 1
        for _ in range(15):
            steps = choose.randrange(12_000)  # about four saves
            published = self.kill_after(steps, saved)
            latest = self.alone().latest()
            found = 0 if latest is None else check(latest)
            self.assertGreaterEqual(found, max(saved, published), f"seed {seed}, killed after {steps} steps")
            for number in self.alone().numbers()[:-1]:  # the newest one may be incomplete
                check(self.alone().open(number))
            saved = found
        self.assertGreater(saved, 1, f"seed {seed}")
        save(self.alone(keep=1), saved + 1)
        self.assertEqual(len(files(self.folder)), 1 + 1 + 12, files(self.folder))

    def kill_after(self, steps: int, saved: int) -> int:
        """Kills a process that saves on two ranks, after a number of calls; returns the seed it published last."""
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(WAIT_S)
            left = [steps]

            def profile(frame: Any, event: str, _: Any) -> None:
                if "checkpoint" in frame.f_code.co_filename and event in ("c_call", "c_return"):
                    left[0] -= 1
                    if left[0] <= 0:
                        os.kill(os.getpid(), signal.SIGKILL)

            def forever(checkpoints: Checkpoints) -> None:
                seed = saved
                sys.setprofile(profile)
                while True:
                    seed += 1
                    save(checkpoints, seed)
                    if checkpoints.rank == 0:
                        os.write(writes, seed.to_bytes(4, "big"))

            try:
                print(on_ranks(2, self.folder, forever, keep=2), file=sys.stderr)
            finally:
                os._exit(1)
        os.close(writes)
        with os.fdopen(reads, "rb") as pipe:
            published = pipe.read()
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), -signal.SIGKILL)
        return int.from_bytes(published[-4:], "big")

    def test_a_manifest_is_whole_or_no_checkpoint(self) -> None:
        save(self.alone(), 1)
        manifest = self.only("checkpoint-*")
        whole = manifest.read_bytes()
        for length in [*range(40), *range(40, len(whole), 17)]:
            manifest.write_bytes(whole[:length])
            with self.assertLogs("ddstore", "WARNING"):
                self.assertIsNone(self.alone().latest(), f"the first {length} bytes")
        for position in [*range(40), *range(40, len(whole), 17)]:
            changed = bytearray(whole)
            changed[position] ^= 1
            manifest.write_bytes(changed)
            try:
                self.assertIsNone(self.alone().latest(), f"byte {position}")
            except CorruptCheckpointError as e:
                self.assertIn(f"{manifest.name} in {self.folder} is not a manifest", str(e))
        manifest.write_bytes(whole[:100])
        self.assertEqual(save(self.alone(), 2), 2)  # and deletes the incomplete one
        self.assertFalse(manifest.exists())

    def test_hostile_manifests(self) -> None:
        from ddstore._checkpoint_files import Manifest

        save(self.alone(), 1)
        manifest = self.only("checkpoint-*")
        legal = 'state 0 {"v":2}\n'
        for lines in (
            legal + "stream 0 ../../../etc/passwd\nchunk 10 00000000\n",
            legal + "stream 0 a\nchunk 99999999999 00000000\n",
            legal + "stream 0 a\nchunk 2000000000 00000000\n",
            legal + "stream 0 a\nchunk 0 00000000\n",
            legal + "stream 0 a\nchunk -1 00000000\n",
            legal + "stream 7 a\n",
            legal + "stream 0 a\nstream 0 a\n",
            legal + "chunk 1 00000000\n",
            legal + "surprise\n",
            legal + legal,
            'state 1 {"v":2}\n',
            "state 0 none\n",
            "",
        ):
            manifest.write_bytes(Manifest.to_bytes([lines]))
            with self.assertRaisesRegex(CorruptCheckpointError, "is not a manifest", msg=lines):
                self.alone().latest()
        manifest.write_bytes(Manifest.to_bytes([legal + "stream 0 a\nchunk 1000000000 00000000\n"]))
        with self.assertRaisesRegex(CorruptCheckpointError, "r00000-a-000000 is missing"):
            self.alone().latest()
        for make in (Path.mkdir, os.mkfifo):
            manifest.rmdir() if manifest.is_dir() else manifest.unlink()
            make(manifest)
            with self.assertRaisesRegex(CorruptCheckpointError, "it is no file"):
                self.alone().latest()

    def test_damaged_chunks(self) -> None:
        on_ranks(2, self.folder, lambda ranks: save(ranks, 1))
        path = self.only("data-*/*/r00001-stream4.rank1-000003")
        whole = path.read_bytes()
        saved = self.alone().latest()
        assert saved is not None
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        reader = saved.reader("stream4.rank1")
        self.assertEqual(reader.read(100), content(1, 1, 30_000)[:100])
        with self.assertRaisesRegex(CorruptCheckpointError, f"{path.name} has the checksum .*: delete checkpoint-"):
            reader.read()
        for damage in (lambda: path.write_bytes(whole[:-1]), lambda: path.write_bytes(whole + b"x"), path.unlink):
            damage()
            with self.assertRaisesRegex(CorruptCheckpointError, path.name):
                saved.read("stream4.rank1")
            for error in on_ranks(2, self.folder, Checkpoints.latest):
                self.assertRegex(str(error), f"{path.name} (is missing|has .* bytes, expected 4096)")
                self.assertIsInstance(error, CorruptCheckpointError)

    def assert_refused(self, work: Callable[[Checkpoints], Any], kinds: list[type[Exception]], text: str) -> None:
        """Checks the errors of ranks that save after a first checkpoint, which stays."""

        def run(checkpoints: Checkpoints) -> None:
            save(checkpoints, 1)
            try:
                work(checkpoints)
            finally:
                assert check(checkpoints.latest()) == 1  # ranks go on together

        errors = on_ranks(2, self.folder, run)
        self.assertEqual([type(e) for e in errors], kinds, errors)
        for error in errors:
            self.assertRegex(str(error), text)
        self.assertEqual(len(list(self.folder.glob("data-*/*2/*"))), 0)

    def test_a_failed_save_publishes_nothing(self) -> None:
        def fail(checkpoints: Checkpoints) -> None:
            with checkpoints.save(state(2)) as to, to.writer(f"a{checkpoints.rank}") as file:
                file.write(bytes(5000))
                if checkpoints.rank == 1:
                    raise KeyError("mine")

        self.assert_refused(fail, [RuntimeError, KeyError], "mine")

    def test_ranks_must_agree(self) -> None:
        def at_other_batches(checkpoints: Checkpoints) -> None:
            with checkpoints.save(state(checkpoints.rank)):
                pass

        self.assert_refused(at_other_batches, [ValueError] * 2, "rank 1 is at .*: save after the same batch")

    def test_a_stream_has_one_writer(self) -> None:
        def same(checkpoints: Checkpoints) -> None:
            with checkpoints.save(state(2)) as to:
                to.writer("model").close()

        self.assert_refused(same, [ValueError] * 2, 'ranks 0 and 1 write the stream "model"')
        with self.assertRaisesRegex(ValueError, 'stream "a" is still open'), self.alone().save(state(1)) as to:
            to.writer("a").write(b"x")
        for name in ("", "../a", "a b"):
            with self.assertRaisesRegex(ValueError, "does not match"), self.alone().save(state(1)) as to:
                to.writer(name)

    def test_a_failed_storage_fails_all_ranks(self) -> None:
        def blocked(checkpoints: Checkpoints) -> None:
            with checkpoints.save(state(2)) as to:
                if checkpoints.rank == 1:
                    Path(self.only("data-*"), "0000000002").touch()
                    with to.writer("a") as file:
                        file.write(bytes(5000))

        self.assert_refused(blocked, [CheckpointError] * 2, "rank 1: .*File exists.*: check the path")
        missing = Checkpoints(self.folder / "mount" / "checkpoints", rank=0, world=1)
        for call in (missing.latest, lambda: save(missing, 1)):
            with self.assertRaisesRegex(CheckpointError, "no such directory: .*mount"):
                call()

    def test_a_training_that_was_replaced_cannot_publish(self) -> None:
        first, second = self.alone(), self.alone()
        save(first, 1)
        save(second, 2)
        with self.assertRaisesRegex(CheckpointError, "has taken over .*: give each training its own directory"):
            save(first, 3)
        self.assertEqual(check(self.alone().latest()), 2)

    def test_illegal_arguments(self) -> None:
        for folder in ("", " ", "hdfs:///training", "file:/training"):
            with self.assertRaisesRegex(ValueError, "a local or mounted directory"):
                Checkpoints(folder)
        for options in ({"keep": 0}, {"chunk_size": 4095}, {"rank": 2, "world": 2}, {"rank": 0, "world": 2}):
            with self.assertRaises(ValueError):
                Checkpoints(self.folder, **options)  # type: ignore[arg-type]
        for text in ("", "{", "[]", '{"v":2}\n', '{"v":\n2}'):
            with self.assertRaisesRegex(ValueError, "state_dict"), self.alone().save({"ddstore": text}):
                pass

    @unittest.skipUnless("DDSTORE_CHECKPOINTS" in os.environ, "DDSTORE_CHECKPOINTS is not set: run by Maven")
    def test_of_java_and_for_java(self) -> None:
        """Reads what Java saved on four ranks; Java then reads what two ranks save here."""
        folder = Path(os.environ["DDSTORE_CHECKPOINTS"])
        whole = bytes(i * 7 % 256 for i in range(10_000))

        def run(checkpoints: Checkpoints) -> None:
            saved = checkpoints.latest()
            assert saved is not None
            assert (saved.number, saved.ranks, saved.streams) == (1, 4, ["empty", "model"]), saved.streams
            assert saved.state == {"ddstore": os.environ["DDSTORE_STATE"]}
            assert saved.read("model") == whole and saved.read("empty") == b""
            assert timedelta(0) < datetime.now(timezone.utc) - saved.created < timedelta(minutes=10)
            with checkpoints.save(saved.state) as to, to.writer(f"part{checkpoints.rank}") as file:
                file.write(whole[checkpoints.rank :])

        self.assertEqual(on_ranks(2, folder, run), [None, None])


if __name__ == "__main__":
    unittest.main()
