# SPDX-License-Identifier: Apache-2.0
"""Batches that pyarrow takes by the PyCapsule interface."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import unittest
from typing import Any

import numpy as np
from rows import EMPTY, ROWS, SCHEMA, StoreTest, assert_same, assert_varying, fixed

import ddstore

try:
    import pyarrow as pa
except ModuleNotFoundError as e:
    raise unittest.SkipTest(f"needs pyarrow: {e}") from e

RANDOM = np.random.default_rng(40)
TYPES = {
    "id": "int64",
    "flag": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "halffloat",
    "bf16": "uint16",
    "f32": "float",
    "f64": "double",
    "m": "extension<arrow.fixed_shape_tensor[value_type=float, shape=[2,3]]>",
    "w": "large_list<item: int64>",
    "p": "large_list<item: fixed_size_list<item: float>[2]>",
    "t": "large_string",
    "b": "large_binary",
}


def values(column: Any, shape: tuple[int, ...]) -> Any:
    """Returns the array of a fixed field."""
    if len(shape) > 1:
        return column.to_numpy_ndarray()
    return np.asarray(column.flatten() if shape else column).reshape(-1, *shape)


class ArrowTest(StoreTest):
    def check(self, batch: Any, rows: Any) -> None:
        batch.validate(full=True)
        self.assertEqual({field.name: str(field.type) for field in batch.schema}, TYPES)
        self.assertEqual((batch.num_rows, sum(column.null_count for column in batch)), (len(rows), 0))
        for name, kind, _, shape in SCHEMA:
            column = batch.column(batch.schema.get_field_index(name))
            if kind == "fixed":
                assert_same(values(column, shape), fixed(name, rows), name)
                continue
            for found, row in zip(column, rows, strict=True):
                value = found.values if kind == "ragged" else found.as_py()
                if kind == "ragged":
                    value = values(value, shape)
                assert_varying(value, name, int(row))

    def test_all_types(self) -> None:
        for rows in (RANDOM.integers(0, ROWS, 501), np.arange(8), np.zeros(0, np.int64), np.array([ROWS - 1])):
            self.check(pa.record_batch(self.store.to_arrow(rows)), rows)
        with ddstore.attach(EMPTY) as store:
            self.check(pa.record_batch(store.to_arrow([])), [])

    def test_memory_is_shared_and_outlives_the_batch(self) -> None:
        batch = self.store.to_arrow([5, 9], ["f32", "t"])
        self.assertEqual(len(batch), 2)
        tables = [pa.table(batch), pa.table(batch)]
        schema = pa.schema(batch)
        addresses = [table["f32"].chunk(0).buffers()[1].address for table in tables]
        column = tables.pop()["t"].chunk(0)
        del batch, tables
        self.store.close()
        self.assertEqual(addresses[0], addresses[1])
        self.assertEqual(addresses[0] % 64, 0)
        self.assertEqual(schema.names, ["f32", "t"])
        self.assertEqual(column.to_pylist(), ["ü 5", "ü 9"])

    def test_capsules_that_nobody_takes(self) -> None:
        batch = self.store.to_arrow([1, 2, 3])
        kept = [batch.__arrow_c_array__() for _ in range(3)]
        pa.record_batch(Capsules(kept.pop()))
        with self.assertRaises(pa.ArrowInvalid):  # it was taken
            pair = kept.pop()
            for _ in range(2):
                pa.record_batch(Capsules(pair))
        del batch
        with self.assertRaises(KeyError):
            left = kept.pop()
            raise KeyError(len(left))  # destroys them with an exception set
        # At the end of a process that keeps some of them.
        program = (
            "import ddstore, os, pyarrow; store = ddstore.attach(); batch = store.to_arrow([1]);"
            "os.kept = batch.__arrow_c_array__(); os.more = batch, pyarrow.record_batch(batch); print(len(batch))"
        )
        environment = dict(PYTHONPATH=":".join(sys.path), DDSTORE_HANDLE=self.store.path)
        environment["DDSTORE_READER_LIBRARY"] = os.environ["DDSTORE_READER_LIBRARY"]
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))

    def test_illegal_arguments(self) -> None:
        for kind, words, call in (
            (IndexError, "number 1 of the batch", lambda: self.store.to_arrow([1, ROWS])),
            (ValueError, "no field 'z'", lambda: self.store.to_arrow([1], "z")),
            (ValueError, "type float64", lambda: self.store.to_arrow([1.5])),  # type: ignore[list-item]
            (TypeError, "pickled", lambda: pickle.dumps(self.store.to_arrow([1]))),
        ):
            with self.assertRaisesRegex(kind, words):
                call()


class ArrowOverPortsTest(ArrowTest):
    ports_only = True


class Capsules:
    def __init__(self, pair: Any) -> None:
        self.pair = pair

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.pair


if __name__ == "__main__":
    unittest.main()
