# SPDX-License-Identifier: Apache-2.0
"""Batches for other libraries, by the PyCapsule interface of Arrow."""

from __future__ import annotations

from ctypes import PYFUNCTYPE, c_void_p, cast, py_object, pythonapi
from typing import Any

from . import _library as c

# Prototypes of their own: a change of those of ctypes.pythonapi would be one for all modules. These keep the GIL.
_schema_capsule = PYFUNCTYPE(py_object, c_void_p)(("dds_arrow_schema_capsule", c.library))
_array_capsule = PYFUNCTYPE(py_object, c_void_p)(("dds_arrow_array_capsule", c.library))
c.library.dds_arrow_use_python(*(cast(pythonapi[name], c_void_p) for name in ("PyCapsule_New", "PyCapsule_GetPointer")))


class ArrowBatch:
    """Rows in the memory layout of Arrow, made by :meth:`ddstore.Store.to_arrow`.

    >>> pyarrow.record_batch(store.to_arrow([7, 3]))

    Each library that reads the PyCapsule interface of Arrow takes it, without a copy: pyarrow, pandas, polars, DuckDB.
    The memory lives until this object and all that was made of it are gone.
    """

    _close = staticmethod(c.library.dds_arrow_close)  # which is here also when Python ends

    def __init__(self, pointer: c_void_p, rows: int) -> None:
        self._pointer = pointer
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __arrow_c_schema__(self) -> Any:
        return _capsule(_schema_capsule, self._pointer)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Returns a schema and a struct array of the fields. A requested schema is ignored, as the interface allows."""
        return self.__arrow_c_schema__(), _capsule(_array_capsule, self._pointer)

    def __reduce__(self) -> Any:
        raise TypeError("a batch of Arrow holds memory of C, and cannot be copied or pickled")

    def __del__(self) -> None:
        self._close(self._pointer)


def _capsule(make: Any, pointer: c_void_p) -> Any:
    try:
        return make(pointer)
    except ValueError:  # NULL without an error of Python
        raise MemoryError("no memory for the structures of Arrow") from None
