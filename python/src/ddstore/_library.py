# SPDX-License-Identifier: Apache-2.0
"""The C library, by ctypes: ddstore_reader.h says what its functions do."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import (
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_float,
    c_int,
    c_int64,
    c_size_t,
    c_void_p,
)
from pathlib import Path

VERSION = 1
LIBRARY = f"libddstore_reader.so.{VERSION}"

OK = 0
INVALID_ARGUMENT = 1
TOO_SMALL = 9
FIXED, RAGGED, STRING, BYTES = 1, 2, 3, 4
PORTS_ONLY = 1
MAX_DIMENSIONS = 8


class Error(Structure):
    _fields_ = [("code", c_int), ("text", c_char * 500)]


class FieldInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("dtype", c_int),
        ("dimensions", c_int),
        ("shape", c_int64 * MAX_DIMENSIONS),
        ("element_bytes", c_int64),
    ]


class Reach(Structure):
    _fields_ = [
        ("segments", c_int64),
        ("mapped_segments", c_int64),
        ("mapped_rows", c_int64),
        ("remote_rows", c_int64),
    ]


class Target(Structure):
    _fields_ = [
        ("field", c_int),
        ("values", c_void_p),
        ("value_bytes", c_size_t),
        ("used_bytes", c_size_t),
        ("offsets", c_void_p),
        ("cast", c_int),
        ("scale", c_float),
    ]


class Batching(Structure):
    _fields_ = [
        ("sampler", c_void_p),
        ("batch_size", c_int64),
        ("global_batch_size", c_int64),
        ("distribution", c_int),
        ("tail", c_int),
    ]


class BatchInfo(Structure):
    _fields_ = [("size", c_int64), ("padding", c_int64), ("global_size", c_int64)]


class Choice(Structure):
    _fields_ = [("texts", POINTER(c_char_p)), ("count", c_size_t)]


class State(Structure):
    _fields_ = [
        ("epoch", c_int64),
        ("batch", c_int64),
        ("rows", c_int64),
        ("version", c_int64),
        ("sampling", c_char_p),
        ("schema", c_char_p),
        ("digest", c_char_p),
        ("fields", Choice),
        ("casts", Choice),
        ("shapes", Choice),
    ]


class CoverageReceipt(Structure):
    _fields_ = [
        ("exact", c_int),
        ("samples", c_int64),
        ("delivered", c_int64),
        ("dropped", c_int64),
        ("padded", c_int64),
        ("repeated", c_int64),
        ("lost", c_int64),
        ("text", c_char * 1200),
    ]


def _find() -> str:
    """Returns the library of the wheel, or the one that DDSTORE_READER_LIBRARY names."""
    named = os.environ.get("DDSTORE_READER_LIBRARY")
    if named:
        return named
    beside = Path(__file__).parent / LIBRARY
    if beside.exists():
        return str(beside)
    raise ImportError(f"{beside} is missing: install the wheel, or set DDSTORE_READER_LIBRARY to {LIBRARY}")


def _load() -> ctypes.CDLL:
    path = _find()
    library = ctypes.CDLL(path)
    reader = c_void_p
    signatures = {
        "dds_reader_open": (c_int, [c_char_p, c_size_t, c_int, POINTER(c_void_p), POINTER(Error)]),
        "dds_reader_open_file": (c_int, [c_char_p, c_int, POINTER(c_void_p), POINTER(Error)]),
        "dds_reader_refresh": (c_int, [reader, POINTER(c_int), POINTER(Error)]),
        "dds_reader_close": (None, [reader]),
        "dds_reader_name": (c_char_p, [reader]),
        "dds_reader_digest": (c_char_p, [reader]),
        "dds_reader_rows": (c_int64, [reader]),
        "dds_reader_fields": (c_int, [reader]),
        "dds_reader_field": (POINTER(FieldInfo), [reader, c_int]),
        "dds_reader_reach": (Reach, [reader]),
        # Addresses as integers: a call takes less time than with pointers that ctypes checks.
        "dds_reader_get_batch": (
            c_int,
            [reader, c_void_p, c_size_t, c_void_p, c_size_t, c_int64, c_void_p],
        ),
        "dds_arrow_read": (
            c_int,
            [reader, c_void_p, c_size_t, c_void_p, c_size_t, c_int64, POINTER(c_void_p), c_void_p],
        ),
        "dds_arrow_close": (None, [c_void_p]),
        "dds_arrow_use_python": (None, [c_void_p, c_void_p]),
        "dds_sampler_sequential": (c_int, [POINTER(c_void_p), POINTER(Error)]),
        "dds_sampler_shuffled": (c_int, [c_int64, POINTER(c_void_p), POINTER(Error)]),
        "dds_sampler_chunked": (
            c_int,
            [c_int64, c_int64, c_int64, POINTER(c_void_p), POINTER(Error)],
        ),
        "dds_sampler_weighted": (
            c_int,
            [c_int64, c_void_p, c_size_t, c_int64, c_int, POINTER(c_void_p), POINTER(Error)],
        ),
        "dds_sampler_class_balanced": (
            c_int,
            [
                c_int64,
                c_void_p,
                c_size_t,
                c_void_p,
                c_size_t,
                c_int64,
                c_int64,
                c_int,
                POINTER(c_void_p),
                POINTER(Error),
            ],
        ),
        "dds_sampler_within": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), POINTER(Error)]),
        "dds_sampler_free": (None, [c_void_p]),
        "dds_subset_of_ranges": (c_int, [c_void_p, c_size_t, POINTER(c_void_p), POINTER(Error)]),
        "dds_subset_of_rows": (c_int, [c_void_p, c_size_t, POINTER(c_void_p), POINTER(Error)]),
        "dds_subset_size": (c_int64, [c_void_p]),
        "dds_subset_free": (None, [c_void_p]),
        "dds_batching_describe": (c_int, [POINTER(Batching), c_int, c_char_p, POINTER(Error)]),
        "dds_epoch_open": (
            c_int,
            [
                POINTER(Batching),
                c_int64,
                c_int,
                c_int,
                c_int64,
                POINTER(c_void_p),
                POINTER(Error),
            ],
        ),
        "dds_epoch_close": (None, [c_void_p]),
        "dds_epoch_batches": (c_int64, [c_void_p]),
        "dds_epoch_max_size": (c_int64, [c_void_p]),
        "dds_epoch_samples": (c_int64, [c_void_p]),
        "dds_epoch_positions": (c_int64, [c_void_p]),
        "dds_epoch_batch": (
            c_int,
            [c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p],
        ),
        "dds_state_write": (c_int, [POINTER(State), c_char_p, c_size_t, POINTER(Error)]),
        "dds_state_resume": (
            c_int,
            [
                c_char_p,
                c_size_t,
                POINTER(State),
                POINTER(c_int64),
                POINTER(c_int64),
                POINTER(Error),
            ],
        ),
        "dds_schema_digest": (c_int, [c_void_p, c_char_p, POINTER(Error)]),
        "dds_coverage_open": (c_int, [c_void_p, POINTER(c_void_p), POINTER(Error)]),
        "dds_coverage_close": (None, [c_void_p]),
        "dds_coverage_deliver": (c_int, [c_void_p, c_void_p, c_size_t, c_size_t, c_void_p]),
        "dds_coverage_size": (c_size_t, [c_void_p]),
        "dds_coverage_sums": (c_int, [c_void_p, c_void_p, c_int64, c_void_p, POINTER(Error)]),
        "dds_coverage_receipt": (None, [c_void_p, c_void_p, POINTER(CoverageReceipt)]),
    }
    version = getattr(library, "dds_reader_version", None)
    found = version() if version is not None else "none"
    if found != VERSION:
        raise ImportError(f"{path} has version {found}, this package is for version {VERSION}")
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{path} has no {name}: it was built from other sources than this package")
        function.restype = result
        function.argtypes = arguments
    return library


library = _load()
