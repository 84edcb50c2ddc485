# SPDX-License-Identifier: Apache-2.0
"""Reads of rows as NumPy arrays."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import threading
import time
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
from rows import (
    EMPTY,
    HANDLE,
    LARGE,
    ROWS,
    SCHEMA,
    StoreTest,
    assert_batch,
    assert_same,
    assert_varying,
    bfloat16,
    fixed,
    varying,
)

import ddstore

RANDOM = np.random.default_rng(39)


class ReadTest(StoreTest):
    def test_all_rows_of_all_fields(self) -> None:
        self.assertEqual([(f.name, f.kind, f.dtype, f.shape) for f in self.store.schema], list(SCHEMA))
        self.assertEqual(len(self.store), ROWS)
        order = np.concatenate([RANDOM.permutation(ROWS), RANDOM.integers(0, ROWS, 500)])
        for rows in (order, order[:1], order[:0], order[::2], order[:9].astype(np.uint16)):
            assert_batch(self.store.get_batch(rows), rows)
        self.assertEqual(self.store.get_batch([])["t"].offsets.tolist(), [0])  # type: ignore[union-attr]
        reach = self.store.statistics()
        read = reach.remote_rows if self.ports_only else reach.mapped_rows
        self.assertGreaterEqual(read, len(order))
        self.assertEqual(reach.mapped_rows == 0, self.ports_only)
        self.assertEqual(reach.mapped_segments, 0 if self.ports_only else reach.segments)

    def test_single_rows_and_slices(self) -> None:
        for row in (0, 1, ROWS - 1, 4, 0):
            for index in (row, row - ROWS, np.int32(row)):
                found = self.store[index]
                self.assertEqual(list(found), [name for name, *_ in SCHEMA])
                for name, kind, *_ in SCHEMA:
                    if kind == "fixed":
                        assert_same(found[name], fixed(name, [row])[0], name)
                    else:
                        assert_varying(found[name], name, row)
        kept = self.store[7]
        self.store[8]
        assert_same(kept["m"], fixed("m", [7])[0])
        assert_same(kept["w"], varying("w", 7))
        assert_batch(self.store[ROWS - 5 :: 2], range(ROWS - 5, ROWS, 2))
        assert_batch(self.store[[3, 2]], [3, 2])

    def test_out_is_filled_and_returned(self) -> None:
        rows = RANDOM.integers(0, ROWS, 100)
        out: dict[str, Any] = {"m": np.full((100, 2, 3), np.nan, np.float32), "bf16": np.zeros(100, np.uint16)}
        for _ in range(2):
            batch = self.store.get_batch(rows, fields=["bf16", "t", "m"], out=out)
            assert_batch(batch, rows, ["bf16", "t", "m"])
            self.assertIs(batch["m"], out["m"])
            rows = rows[::-1].copy()

    def test_out_can_be_a_matrix(self) -> None:
        with ddstore.attach(LARGE) as store:
            out = np.empty((3, 256), np.float32).view(np.matrix)
            self.assertIs(store.get_batch([2, 0, 1], out={"x": out})["x"], out)
            assert_same(out[:, 7], np.array([[2], [0], [1]], np.float32))

    def test_no_rows(self) -> None:
        with ddstore.attach(EMPTY) as store:
            self.assertEqual((len(store), store.schema), (0, self.store.schema))
            assert_batch(store.get_batch([]), [])
            assert_batch(store[:], [])
            with self.assertRaises(IndexError):
                store[0]

    def test_casts(self) -> None:
        rows = RANDOM.integers(0, ROWS, 200)
        for name in ("i8", "u8", "i16", "i32", "bf16", "f32", "f64", "m"):
            plain = fixed(name, rows)
            if name == "bf16":
                plain = (plain.astype(np.uint32) << 16).view(np.float32)
            single = plain.astype(np.float32)
            for scale in (None, 0.25, -3.0):
                with np.errstate(over="ignore"):
                    scaled = single if scale is None else single * np.float32(scale)
                for target in ("float32", np.float32, "bfloat16"):
                    cast: Any = target if scale is None else (target, scale)
                    found = self.store.get_batch(rows, name, cast=cast)[name]
                    assert_same(found, bfloat16(scaled) if target == "bfloat16" else scaled, f"{name} {cast}")
        ragged = self.store.get_batch(rows, ["p", "id"], cast={"p": ("bfloat16", 2)})["p"]
        for found, row in zip(ragged, rows, strict=True):
            assert_same(found, bfloat16(varying("p", int(row)) * np.float32(2)))

    def test_illegal_arguments(self) -> None:
        read = self.store.get_batch
        short = np.empty(1, np.int64)
        frozen = np.empty(2, np.int64)
        frozen.flags.writeable = False
        cases: list[tuple[type[Exception], str, Any]] = [
            (IndexError, f"row {ROWS} outside", lambda: self.store[ROWS]),
            (IndexError, f"row {-ROWS - 1} outside", lambda: self.store[-ROWS - 1]),
            (IndexError, f"row {ROWS} \\(number 1 of the batch\\)", lambda: read([1, ROWS])),
            (IndexError, "row -1", lambda: read([-1])),
            (IndexError, "no int64", lambda: read(np.array([2**63], np.uint64))),
            (ValueError, "type float64", lambda: read([1.5])),  # type: ignore[list-item]
            (ValueError, "type bool", lambda: read(np.ones(ROWS, bool))),
            (ValueError, "type bool", lambda: self.store[True]),
            (ValueError, "2 dimensions", lambda: read([[1]])),  # type: ignore[list-item]
            (ValueError, "no field 'z'", lambda: read([1], "z")),
            (ValueError, "once", lambda: read([1], ["id", "id"])),
            (ValueError, "not read", lambda: read([1], "id", {"m": short})),
            (ValueError, "need \\(2,\\) of int64", lambda: read([1, 2], out={"id": short})),
            (ValueError, "need \\(1,\\) of int32", lambda: read([1], out={"i32": short})),
            (ValueError, "contiguous and writeable", lambda: read([1, 2], out={"id": frozen})),
            (ValueError, "only fixed", lambda: read([1], out={"t": short})),
            (ValueError, "no NumPy array", lambda: read([1], out={"id": [0]})),  # type: ignore[dict-item]
            (ValueError, "without a mask", lambda: read([1], out={"id": np.ma.array(short)})),
            (ValueError, "need \\(1,\\) of int64", lambda: read([1], out={"id": short.astype(">i8")})),
            (ValueError, "float32 and bfloat16", lambda: read([1], "f64", cast="int8")),
            (ValueError, "cannot be cast", lambda: read([1], "i64", cast="float32")),
            (ValueError, "cannot be cast", lambda: read([1], "t", cast="float32")),
            (ValueError, "scale", lambda: read([1], "f32", cast=("float32", np.inf))),
            (ValueError, "timeout", lambda: read([1], timeout=0)),
            (ValueError, "float32 and bfloat16", lambda: read([1], "id", cast="i64")),  # the fields read below
            (ValueError, "pair", lambda: read([1], "f32", cast=["float32", 2])),
            (ValueError, "share memory", lambda: read([1], ["id", "i64"], {"id": short, "i64": short})),
        ]
        read([1], ["id", "i64"])
        for kind, words, call in cases:
            with self.assertRaisesRegex(kind, words):
                call()
        assert_batch(read([1]), [1])

    def test_one_long_row_does_not_decide_how_much_memory_a_batch_has(self) -> None:
        for output in self.store._plan(["t", "w"], None).outputs:
            output.guess = 1e12
        rows = RANDOM.integers(0, ROWS, 300)
        assert_batch(self.store.get_batch(rows, ["t", "w"]), rows, ["t", "w"])

    def test_reads_go_on_after_interrupts(self) -> None:
        def interrupt(*_: Any) -> None:
            raise KeyboardInterrupt

        former = signal.signal(signal.SIGALRM, interrupt)
        interrupts = 0
        try:
            for round in range(200):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 1e-4 + round * 1e-6)
                    while True:
                        self.store.get_batch([1, 2], "id")
                except KeyboardInterrupt:
                    interrupts += 1
                    assert_batch(self.store.get_batch([3]), [3])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, former)
        self.assertEqual(interrupts, 200)

    def test_fork_copy_and_pickle(self) -> None:
        rows = RANDOM.integers(0, ROWS, 50)
        assert_batch(self.store.get_batch(rows), rows)
        for _ in range(2):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    assert_batch(self.store.get_batch(rows), rows)
                    status = 0
                finally:
                    os._exit(status)
            assert_batch(self.store.get_batch(rows), rows)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        data = pickle.dumps(self.store)
        self.assertNotIn(key_of_handle().encode(), data)
        for other in (pickle.loads(data), self.store.copy()):
            with other:
                assert_batch(other.get_batch(rows), rows)
                self.assertEqual(other.statistics().mapped_segments, self.store.statistics().mapped_segments)

    def test_one_thread_at_a_time_without_the_interpreter_lock(self) -> None:
        rows = RANDOM.integers(0, ROWS, 200_000)
        end = threading.Event()
        found: list[Any] = []

        def read() -> None:
            while not end.is_set():
                try:
                    found.append(self.store.get_batch(rows, "id")["id"])
                except RuntimeError as e:
                    found.append(e)

        thread = threading.Thread(target=read)
        thread.start()
        latest = time.monotonic() + 60
        refusal = ""
        while not refusal and time.monotonic() < latest:
            try:
                assert_batch(self.store.get_batch([5], "id"), [5], ["id"])
            except RuntimeError as e:
                refusal = str(e)
        end.set()
        thread.join()
        self.assertIn("another thread", refusal)
        for values in found:
            if not isinstance(values, RuntimeError):
                assert_same(values, rows)

    def test_use_after_close(self) -> None:
        self.store.close()
        self.store.close()
        self.assertIn("closed", repr(self.store))
        for call in (
            lambda: self.store[0],
            lambda: self.store.get_batch([1]),
            self.store.statistics,
            self.store.refresh,
        ):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()
        with ddstore.attach(HANDLE) as again:
            self.assertFalse(again.refresh())
            assert_batch(again.get_batch([9]), [9])


class PortsTest(ReadTest):
    ports_only = True


class HandleTest(StoreTest):
    def test_the_path_can_be_in_the_environment(self) -> None:
        with mock.patch.dict(os.environ, DDSTORE_HANDLE=HANDLE), ddstore.attach() as store:
            assert_batch(store.get_batch([1]), [1])
        with mock.patch.dict(os.environ), self.assertRaisesRegex(ValueError, "DDSTORE_HANDLE"):
            del os.environ["DDSTORE_HANDLE"]
            ddstore.attach()

    def test_no_text_has_the_key(self) -> None:
        key = key_of_handle()
        with self.assertLogs("ddstore", logging.DEBUG) as logs, ddstore.attach(Path(HANDLE)) as store:
            texts = [repr(store), repr(store.schema), repr(store.statistics()), repr(vars(store))]
        self.assertRegex(logs.output[0], "6000 rows, (\\d) of \\1 segments mapped")
        for text in [*texts, *logs.output]:
            self.assertNotIn(key, text)

    def test_files_that_are_no_handles(self) -> None:
        with TemporaryDirectory() as directory:
            path = Path(directory, "handle.json")
            with self.assertRaisesRegex(FileNotFoundError, "application that saved it"):
                ddstore.attach(path)
            with self.assertRaisesRegex(ddstore.HandleError, "is a folder"):
                ddstore.attach(directory)
            handle = json.loads(Path(HANDLE).read_text())
            path.write_text(json.dumps(handle))
            with ddstore.attach(path) as store:
                path.unlink()
                with self.assertRaises(FileNotFoundError):
                    store.refresh()
                assert_batch(store.get_batch([3]), [3])
            for text, words in (
                ("", "no handle"),
                ("[1]", "format"),
                (json.dumps({**handle, "version": 2}), "handle.json.* version 2: .* version 1"),
                (json.dumps({**handle, "rows": ROWS + 1}), "rows"),
            ):
                path.write_text(text)
                with self.assertRaisesRegex(ddstore.HandleError, words) as caught:
                    ddstore.attach(path)
                self.assertIsInstance(caught.exception, ValueError)
                self.assertNotIn(handle["grant"]["key"], str(caught.exception))

    def test_a_wrong_key_is_refused_at_attach(self) -> None:
        with TemporaryDirectory() as directory:
            path = Path(directory, "handle.json")
            handle = json.loads(Path(HANDLE).read_text())
            handle["grant"]["key"] = "0" * 64
            path.write_text(json.dumps(handle))
            with self.assertRaises(ddstore.GrantError) as caught:
                ddstore.attach(path, ports_only=True)
            self.assertIsInstance(caught.exception, PermissionError)


def key_of_handle() -> str:
    return str(json.loads(Path(HANDLE).read_text())["grant"]["key"])


if __name__ == "__main__":
    unittest.main()
