# SPDX-License-Identifier: Apache-2.0
"""Stores and ranks from PySpark: classic and Spark Connect, with two executors that are processes of their own."""

from __future__ import annotations

import importlib
import logging
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import rows  # sets the path of the library

try:
    import pyspark
    import torch
    import torch.distributed as dist
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession
except ModuleNotFoundError as e:
    raise unittest.SkipTest(f"needs PySpark and PyTorch: {e}") from e

import ddstore
import ddstore.spark
from ddstore import samplers
from ddstore.spark import RankError

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in their background jobs

ROWS = 10_000
JAR = os.environ["DDSTORE_JAR"]
SETTINGS = {
    "spark.master": "local-cluster[2,1,1024]",
    "spark.jars": JAR,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.locality.wait": "0",
    "spark.sql.shuffle.partitions": "2",
    "spark.ddstore.maxAttempts": "3",
}
#: torchrun of PyTorch 1.13 fails with Python 3.11 unless one stream is redirected
TORCHRUN = {"PET_REDIRECTS": "1", "PET_TEE": "1"}
SETTINGS.update({f"spark.executorEnv.{name}": value for name, value in TORCHRUN.items()})
PATIENCE_S = 120.0
END_S = 10.0


def until(what: str, condition: Any, limit_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {limit_s} s")
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Returns whether a process runs, and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Cases:
    """The tests of both kinds of sessions, which share the code of users."""

    class SparkTest(unittest.TestCase):
        spark: Any
        folder: Any

        @classmethod
        def setUpClass(cls) -> None:
            cls.folder = TemporaryDirectory()
            cls.addClassCleanup(cls.folder.cleanup)

        def setUp(self) -> None:
            self.work = Path(self.folder.name) / self.id()
            self.work.mkdir()

        def tearDown(self) -> None:
            for store in ddstore.spark.list(self.spark):
                store.drop()

        def frame(self, first: int = 0, end: int = ROWS) -> Any:
            return self.spark.range(first, end, 1, 3).selectExpr(
                "id", "cast(id as float) / 4 as x", "concat('row ', id) as t"
            )

        def load(self, **options: Any) -> ddstore.spark.ResidentStore:
            return ddstore.spark.load(self.frame(), "train", ranks=2, order_by="id", **options)

        def pids(self, count: int) -> list[int]:
            """Returns the processes that ranks and their children have written down, when all have."""
            until(f"{count} processes", lambda: len(list(self.work.glob("pid-*"))) == count)
            return [int(file.name[4:]) for file in self.work.glob("pid-*")]

        def assert_ended(self, pids: list[int]) -> None:
            until(f"the end of {pids}", lambda: not any(alive(pid) for pid in pids), END_S)

        def test_calls(self) -> None:
            store = self.load(width=1, fill_nulls={"x": -1})
            self.assertEqual(len(store), ROWS)
            self.assertEqual(store.fields, ["id int64", "x float64", "t string"])
            self.assertEqual((store.ranks, store.width), (2, 1))
            self.assertIn("10,000 rows", store.explain())
            self.assertEqual([one.name for one in ddstore.spark.list(self.spark)], ["train"])
            self.assertEqual(ddstore.spark.open(self.spark, "train").digest, store.digest)
            sample = store.sample(5, seed=1)
            self.assertEqual(sorted(sample.collect()), sorted(sample.collect()))
            self.assertEqual(store.sample(5, seed=1).collect(), sample.collect())

            store.append(self.frame(ROWS, ROWS + 10))
            self.assertEqual(len(store), ROWS + 10)
            store.repair()
            self.assertEqual(store.to_df().selectExpr("max(id)").collect()[0][0], ROWS + 9)
            statistics = store.statistics()
            self.assertEqual((statistics["rows"], statistics["lostRanks"], statistics["losses"]), (ROWS + 10, [], 0))
            self.assertEqual([executor["rows"] for executor in statistics["executors"]], [ROWS + 10] * 2)
            scans = [r for executor in statistics["executors"] for r in executor["readers"] if r["reader"] == "scan"]
            read = sum(path["rows"] for scan in scans for path in scan["reads"])
            self.assertEqual(read, 4 * 5 + ROWS + 10)  # four queries of the samples, and the one before
            with store.handle().attach() as attached:
                self.assertEqual(attached[-1], {"id": ROWS + 9, "x": (ROWS + 9) / 4, "t": f"row {ROWS + 9}"})
                with self.assertRaisesRegex(TypeError, "must not be pickled"):
                    attached.__getstate__()
            handle = store.grant("me", 100)
            path = self.work / "handle.json"
            handle.save(path)
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            self.assertNotIn("key", repr(handle))
            grants = {grant.label: grant for grant in store.grants()}
            self.assertFalse(grants["me"].is_revoked)
            self.assertIsNotNone(grants["me"].expires)
            self.assertEqual(store.revoke("me"), [])
            with self.assertRaises(ddstore.GrantError), ddstore.Store(str(path), ports_only=True) as attached:
                attached.get_batch([0])

            store.replace(self.frame(0, 100))
            self.assertEqual((len(store), store.width, store.to_df().count()), (100, 1, 100))
            store.drop()
            store.drop()
            self.assertEqual(ddstore.spark.list(self.spark), [])

        def test_errors_are_in_words_of_python(self) -> None:
            store = self.load()
            spark, frame = self.spark, self.frame()
            for call, error, message in (
                (lambda: ddstore.spark.open(spark, "none"), ValueError, 'no store "none" .* known stores: .train'),
                (lambda: ddstore.spark.load(frame, "a b"), ValueError, "name 'a b': 1 to 128 letters"),
                (lambda: ddstore.spark.load(frame, "train"), ValueError, 'store "train" already exists'),
                (lambda: ddstore.spark.load(frame, "b", ranks=77), ValueError, "77 ranks need 77 slots, 2 available"),
                (lambda: ddstore.spark.load(frame, "b", ranks=0), ValueError, "ranks is 0, outside .1, 16,384"),
                (lambda: ddstore.spark.load(frame, "b", order_by="z"), ValueError, 'order_by "z": no such column'),
                (lambda: ddstore.spark.load(frame, "b", backing="z"), ValueError, 'backing is "z"; legal values'),
                (lambda: ddstore.spark.load(frame, "b", types={"z": "int8"}), ValueError, r"types\['z'\]"),
                (lambda: store.sample(ROWS + 1), ValueError, "sample of 10,001 rows"),
                (lambda: store.append(spark.range(3)), ValueError, "missing .t, x"),
                (lambda: store.grant("a b", 1), ValueError, 'label "a b"'),
                (lambda: store.grant("a", 0), ValueError, "expires_in 0.0 s outside"),
                (lambda: store.revoke("none"), ValueError, 'no grant "none"'),
                (lambda: store.run(3), TypeError, "train 3"),  # type: ignore[arg-type]
                (lambda: store.run(print, timeout=-1), ValueError, "timeout -1 s outside"),
            ):
                with self.subTest(message), self.assertRaisesRegex(error, message):
                    call()
            store.drop()
            with self.assertRaisesRegex(ValueError, 'no store "train"'):
                store.run(print)

        def test_ranks_train_beside_their_rows(self) -> None:
            store = self.load()

            def train(rank: Any) -> Any:
                print("begins")
                os.system("echo a child")
                loader = rank.loader(samplers.shuffled(42, global_batch_size=100), fields=["id", "x"], prefetch=2)
                total = torch.zeros(1, dtype=torch.int64)
                for batch in loader:
                    assert (batch["x"] == batch["id"] / 4).all()
                    total += batch["id"].sum()
                dist.all_reduce(total)
                rank.barrier()
                subprocess.Popen(["sleep", "1000"])
                return (
                    (rank.rank, rank.world, rank.local_rank, rank.local_world, rank.is_home, rank.attempt),
                    os.environ["RANK"],
                    int(total),
                    loader.receipt(dist).exact,
                    os.getpid(),
                )

            output = StringIO()
            with redirect_stdout(output):
                results = [store.run(train) for _ in range(2)]
            for result in results:
                for rank, found in enumerate(result):
                    place = (rank, 2, rank, 2, True, 1)
                    self.assertEqual(found[:4], (place, str(rank), ROWS * (ROWS - 1) // 2, True))
            self.assertEqual([rank[4] for rank in results[0]], [rank[4] for rank in results[1]], "workers are reused")
            lines = output.getvalue().splitlines()
            for rank in range(2):
                of_rank = [line for line in lines if line.startswith(f"[rank {rank}] ")]
                self.assertEqual(of_rank, [f"[rank {rank}] begins", f"[rank {rank}] a child"] * 2)
            self.assertEqual(store.run(lambda rank: rank.barrier(), backend="none"), [None, None])

        def test_the_first_failure_is_the_error(self) -> None:
            store = self.load()
            work = str(self.work)

            def train(rank: Any) -> None:
                print("before")
                child = subprocess.Popen(["sleep", "1000"])
                for pid in (os.getpid(), child.pid):
                    Path(work, f"pid-{pid}").touch()
                if rank.rank == 1:
                    raise ValueError("at 42")
                dist.all_reduce(torch.ones(1))

            output = StringIO()
            with redirect_stdout(output), self.assertRaisesRegex(RankError, "rank 1: ValueError: at 42") as caught:
                store.run(train)
            self.assertEqual((caught.exception.rank, caught.exception.type_name), (1, "ValueError"))
            self.assertIn('raise ValueError("at 42")', caught.exception.traceback)
            self.assertNotIn("_ranks.py", caught.exception.traceback)
            self.assertIn("[rank 1] before", output.getvalue())
            self.assert_ended(self.pids(4))
            with self.assertRaisesRegex(RankError, "result of rank 0, a lock, cannot be pickled"):
                store.run(lambda rank: threading.Lock() if rank.rank == 0 else None)

        def test_an_error_of_a_peer_that_has_ended_is_retried(self) -> None:
            def train(rank: Any) -> int:
                if rank.attempt == 1:
                    raise ValueError("no batch") from ddstore.StoreLostError("as if a peer had ended")
                return int(rank.attempt)

            with self.assertLogs("ddstore", logging.WARNING):
                self.assertEqual(self.load().run(train), [2, 2])

        def hang(self) -> Any:
            work = str(self.work)

            def train(rank: Any) -> None:
                child = subprocess.Popen(["sleep", "1000"], start_new_session=False)
                for pid in (os.getpid(), child.pid):
                    Path(work, f"pid-{pid}").touch()
                time.sleep(1000)

            return train

        def test_a_hang_ends_at_the_timeout(self) -> None:
            store = self.load()
            with self.assertRaisesRegex(TimeoutError, "not ended in 15 s"):
                store.run(self.hang(), timeout=15)
            self.assert_ended(self.pids(4))

        def test_ctrl_c_ends_ranks_and_children(self) -> None:
            store = self.load()
            pids: list[int] = []

            def interrupt() -> None:
                pids.extend(self.pids(4))
                os.kill(os.getpid(), signal.SIGINT)

            thread = threading.Thread(target=interrupt)
            thread.start()
            with self.assertRaises(KeyboardInterrupt):
                store.run(self.hang())
            thread.join()
            self.assert_ended(pids)
            self.assertEqual(store.run(lambda rank: rank.rank), [0, 1])

        def test_lost_processes_cost_an_attempt(self) -> None:
            store = self.load()

            def train(rank: Any) -> Any:
                if rank.rank == 1 and rank.attempt < 3:
                    daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
                    executor = int(daemon.rsplit(")", 1)[1].split()[1])
                    os.kill(os.getpid() if rank.attempt == 1 else executor, signal.SIGKILL)
                dist.all_reduce(torch.ones(1))
                return rank.attempt, len(rank.store), rank.store.get_batch([0, ROWS - 1], fields=["id"])["id"].tolist()

            with self.assertLogs("ddstore", logging.WARNING) as logs:
                results = store.run(train)
            self.assertEqual(results, [(3, ROWS, [0, ROWS - 1])] * 2)
            self.assertEqual(sum("the ranks start again" in line for line in logs.output), 2)


class ClassicTest(Cases.SparkTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        builder = SparkSession.builder
        for key, value in SETTINGS.items():
            builder = builder.config(key, value)
        cls.spark = builder.getOrCreate()
        cls.addClassCleanup(cls.spark.stop)
        cls.spark.sparkContext.setLogLevel("OFF")

    def programs(self, page: str) -> list[str]:
        """Runs the programs of a page in their order, in one namespace; returns what they print."""
        text = (rows.PYTHON.parent / "docs" / page).read_text()
        names: dict[str, Any] = {"spark": self.spark, "__name__": "__main__"}
        outputs = []
        for language, block in re.findall(r"<!-- not run: run by PySparkIT -->\n```(\w+)\n(.*?)```", text, re.DOTALL):
            code = block.replace("/data/", f"{self.work}/")
            if code.startswith("./ddstore") or code.startswith("# journey.py"):
                continue  # of the journey, which PySparkIT makes
            if code.startswith("# train.py"):
                (self.work / "train.py").write_text(code)
                continue
            output = StringIO()
            with redirect_stdout(output):
                if language == "python":
                    exec(compile(code, page, "exec"), names)
                else:
                    command = code.replace("torchrun", f"{sys.executable} -m torch.distributed.run", 1).split()
                    run = subprocess.run(
                        command, cwd=self.work, env={**os.environ, **TORCHRUN}, capture_output=True, text=True
                    )
                    self.assertEqual(run.returncode, 0, run.stderr)
                    print(run.stdout)
            outputs.append(output.getvalue())
        return outputs

    def test_the_programs_of_the_page_run(self) -> None:
        distributor, torchrun, barrier = self.programs("pyspark.md")
        self.assertRegex(distributor, r"\(\d+, '10,000 samples, each exactly once; 10,000 delivered, 0 dropped")
        totals = [int(total) for total in re.findall(r"\d (\d+) 10,000 samples, each exactly once", torchrun)]
        self.assertEqual((len(totals), sum(totals)), (2, 10_000 * 9_999 // 2))
        self.assertIn("Row(rank=1, total=25000000)", barrier)

    def test_migrated_programs_run(self) -> None:
        before, after, streaming = self.programs("guide/migrate.md")
        for total in (before, after):  # half of the rows of two epochs
            self.assertAlmostEqual(int(total.splitlines()[-1]), 10_000 * 9_999 // 2, delta=2_000_000)
        self.assertIn("shuffled(42)", streaming)

    def test_a_lost_executor_costs_the_steps_since_the_last_checkpoint(self) -> None:
        program = rows.PYTHON.parent / "examples/src/main/python/vae.py"
        sys.path.append(str(program.parent))
        self.addCleanup(sys.path.remove, str(program.parent))
        vae = importlib.import_module(program.stem)
        cloudpickle.register_pickle_by_value(vae)
        self.addCleanup(cloudpickle.unregister_pickle_by_value, vae)
        images = self.spark.range(300).selectExpr("transform(sequence(0, 783), i -> smallint((id + i) % 256)) AS image")
        images = images.selectExpr("image", "image[0] % 8 = 0 AS test")
        store = ddstore.spark.load(images, "images", ranks=2, types={"image": "uint8[28,28]"})
        folder = str(self.work / "checkpoints")
        train, once, begun = vae.train, {"epochs": 2, "batch": 32}, str(self.work / "begun")

        def killed(rank: Any) -> Any:
            def kill() -> None:
                while not list(Path(folder).glob("checkpoint-*")):
                    time.sleep(0.01)
                daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
                os.kill(int(daemon.rsplit(")", 1)[1].split()[1]), signal.SIGKILL)

            if rank.rank == 1 and rank.attempt == 1:
                threading.Thread(target=kill, daemon=True).start()
            if rank.attempt == 2:
                Path(begun).write_text(str(len(list(Path(folder).glob("checkpoint-*")))))
            return train(rank, **once, folder=folder, every=2)

        expected = store.run(lambda rank: train(rank, **once))
        np.testing.assert_allclose(store.run(killed), expected, rtol=1e-6)
        self.assertGreater(int(Path(begun).read_text()), 0)

    def test_a_followed_handle_has_appended_rows(self) -> None:
        store = self.load()
        path = self.work / "handle.json"
        store.handle().save(path, follow=True)
        with ddstore.attach(path) as attached:
            store.append(self.frame(ROWS, ROWS + 10))
            self.assertTrue(attached.refresh())
            self.assertEqual(len(attached), ROWS + 10)

    def test_rows_that_do_not_fit_into_limited_memory_come_over_ports(self) -> None:
        count = 4_000_000
        store = ddstore.spark.load(self.spark.range(count), "train", ranks=2)

        def train(rank: Any) -> Any:
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + (12 << 20), hard))
            try:
                with rank.store.copy() as limited:
                    reach = limited.statistics()
                    return reach.segments, reach.mapped_segments, limited[count - 1]["id"]
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

        self.assertEqual(store.run(train, backend="none"), [(2, 0, count - 1)] * 2)

    def test_output_is_shown_at_once(self) -> None:
        store = self.load()
        output = StringIO()
        path = self.work / "seen"

        def train(rank: Any) -> None:
            print("0 %\rfirst")
            for _ in range(600):
                if path.exists():
                    return
                time.sleep(0.1)
            raise TimeoutError("the driver has not seen the line")

        def watch() -> None:
            until("the lines", lambda: output.getvalue().count("first") == 2)
            path.touch()

        thread = threading.Thread(target=watch)
        thread.start()
        with redirect_stdout(output):
            store.run(train)
        thread.join()
        for rank in range(2):
            self.assertIn(f"[rank {rank}] 0 %\r", output.getvalue(), "the state of a progress bar")


class ConnectTest(Cases.SparkTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        settings = {
            **SETTINGS,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
        }
        home = Path(pyspark.__file__).parent
        server_class = "org.apache.spark.sql.connect.service.SparkConnectServer"
        command = [str(home / "bin/spark-submit"), "--class", server_class]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        log = (Path(cls.folder.name) / "server.log").open("w")
        cls.addClassCleanup(log.close)
        server = subprocess.Popen([*command, "spark-internal"], cwd=cls.folder.name, stdout=log, stderr=log)

        def stop() -> None:
            server.terminate()
            server.wait(PATIENCE_S)

        cls.addClassCleanup(stop)

        def listens() -> bool:
            if server.poll() is not None:
                raise AssertionError(f"the server has ended: {Path(log.name).read_text()}")
            with socket.socket() as client:
                return client.connect_ex(("127.0.0.1", port)) == 0

        until("the port of the server", listens)
        cls.spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        cls.addClassCleanup(cls.spark.stop)

    def test_what_connect_cannot_do_is_refused(self) -> None:
        with self.assertRaisesRegex(NotImplementedError, "the driver of Spark Connect has no files of this process"):
            self.load().handle().save(self.work / "handle.json", follow=True)


if __name__ == "__main__":
    assert sys.version_info >= (3, 11)
    unittest.main()
