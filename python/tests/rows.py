# SPDX-License-Identifier: Apache-2.0
"""The rows of the tests, computed from their numbers without ddstore: PythonReaderTest.java has the same in SQL.

The tests run against a store in Spark's executors, of which DDSTORE_HANDLE names the handle. They are run by Java:
    mvn verify -pl spark-connector -am -Dtest=PythonReaderTest
"""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path
from typing import Any

PYTHON = Path(__file__).resolve().parent.parent
os.environ.setdefault("DDSTORE_READER_LIBRARY", str(PYTHON.parent / "native/target/c/libddstore_reader.so"))
sys.path.insert(0, str(PYTHON / "src"))

import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402

import ddstore  # noqa: E402

HANDLE = os.environ.get("DDSTORE_HANDLE", "")
#: Handle of a store of the same fields without rows.
EMPTY = os.path.join(os.path.dirname(HANDLE), "empty.json")
#: Handle of a store of 128 MiB with the field x: float32[256] that has the number of the row.
LARGE = os.path.join(os.path.dirname(HANDLE), "large.json")
ROWS = 6000
#: Name, kind, type and shape of all fields.
SCHEMA = (
    ("id", "fixed", "int64", ()),
    ("flag", "fixed", "bool", ()),
    ("i8", "fixed", "int8", ()),
    ("u8", "fixed", "uint8", ()),
    ("i16", "fixed", "int16", ()),
    ("i32", "fixed", "int32", ()),
    ("i64", "fixed", "int64", ()),
    ("f16", "fixed", "float16", ()),
    ("bf16", "fixed", "bfloat16", ()),
    ("f32", "fixed", "float32", ()),
    ("f64", "fixed", "float64", ()),
    ("m", "fixed", "float32", (2, 3)),
    ("w", "ragged", "int64", ()),
    ("p", "ragged", "float32", (2,)),
    ("t", "string", "uint8", ()),
    ("b", "bytes", "uint8", ()),
)


def fixed(name: str, rows: Any) -> npt.NDArray[Any]:
    """Returns the values of a fixed field; bfloat16 as uint16."""
    i = np.asarray(rows, np.int64)
    values: dict[str, Any] = {
        "id": lambda: i,
        "flag": lambda: i % 3 == 0,
        "i8": lambda: (i % 256 - 128).astype(np.int8),
        "u8": lambda: (i * 7 % 256).astype(np.uint8),
        "i16": lambda: (i * 31 % 65536 - 32768).astype(np.int16),
        "i32": lambda: (i * 2654435761 % 4294967296 - 2147483648).astype(np.int32),
        "i64": lambda: i * 1000000007 - 500000000000,
        "f16": lambda: (i * 17 % 31744).astype(np.int16).view(np.float16),
        "bf16": lambda: (i * 13 % 32640).astype(np.uint16),
        "f32": lambda: (i / 3).astype(np.float32),
        "f64": lambda: i / 7,
        "m": lambda: (i[:, None] * 6 + np.arange(6)).astype(np.float32).reshape(-1, 2, 3) / np.float32(4),
    }
    result: npt.NDArray[Any] = values[name]()
    return result


def varying(name: str, row: int) -> Any:
    """Returns a row of a field that is not fixed."""
    if name == "w":
        return np.array([row * 10 + k for k in range(row % 5)], np.int64)
    if name == "p":
        return np.array([(row, k) for k in range(row % 4)], np.float32).reshape(-1, 2)
    return "ü" * (row % 4) + f" {row}" if name == "t" else row.to_bytes(4, "big")[: row % 5]


def bfloat16(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Rounds finite numbers to the nearest bfloat16, ties to even."""
    bits = values.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def assert_same(actual: Any, expected: npt.NDArray[Any], what: str = "") -> None:
    """Compares type, shape and bytes."""
    found = np.asarray(actual)
    assert found.dtype == expected.dtype, (what, found.dtype, expected.dtype)
    assert found.shape == expected.shape, (what, found.shape, expected.shape)
    assert found.tobytes() == expected.tobytes(), (what, found, expected)


def assert_batch(batch: Any, rows: Any, names: Any = None) -> None:
    """Compares a batch of NumPy arrays with what the rows have."""
    names = [name for name, *_ in SCHEMA] if names is None else list(names)
    assert list(batch) == names, list(batch)
    for name, kind, *_ in SCHEMA:
        if name not in names:
            continue
        if kind == "fixed":
            assert_same(batch[name], fixed(name, rows), name)
            continue
        assert len(batch[name]) == len(rows)
        for found, row in zip(batch[name], rows, strict=True):
            assert_varying(found, name, int(row))


def assert_varying(found: Any, name: str, row: int) -> None:
    expected = varying(name, row)
    if isinstance(expected, np.ndarray):
        assert_same(found, expected, f"{name} of {row}")
    else:
        assert found == expected, (name, row, found, expected)


def ask(what: str) -> None:
    """Lets the Java program that runs this one do something to the store."""
    print(what, flush=True)
    assert sys.stdin.readline() == "done\n"


def shared_memory() -> set[str]:
    """Returns the files in shared memory that do not belong to an executor."""
    return {str(path) for path in Path("/dev/shm").iterdir() if not path.name.startswith("ddstore")}


@unittest.skipUnless(HANDLE, "DDSTORE_HANDLE is not set: run these tests by Maven")
class StoreTest(unittest.TestCase):
    """A test with a store, after which no mapping, thread and file is left."""

    ports_only = False
    store: ddstore.Store

    def setUp(self) -> None:
        self.files = shared_memory()
        self.store = ddstore.attach(HANDLE, ports_only=self.ports_only, timeout=30)

    def tearDown(self) -> None:
        import gc
        import threading

        self.store.close()
        gc.collect()
        threads = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
        self.assertEqual([name for name in threads if "ddstore" in name], [])
        self.assertNotIn("ddstore-", Path("/proc/self/maps").read_text().replace(str(PYTHON.parent), ""))
        self.assertEqual(shared_memory() - self.files, set())
