# SPDX-License-Identifier: Apache-2.0
"""Reads of the rows of a DDStore, which lives in the memory of Spark's executors.

>>> import ddstore
>>> store = ddstore.attach("/data/train.json")
>>> store.get_batch([7, 3])["x"].shape
(2, 64)
"""

from . import samplers
from ._arrow import ArrowBatch
from ._store import Batch, Field, Ragged, Statistics, Store, attach
from .errors import GrantError, HandleError, StoreGoneError, StoreLostError

__version__ = "0.1.0"
__all__ = [
    "ArrowBatch",
    "Batch",
    "Field",
    "GrantError",
    "HandleError",
    "Ragged",
    "Statistics",
    "Store",
    "StoreGoneError",
    "StoreLostError",
    "attach",
    "samplers",
]
