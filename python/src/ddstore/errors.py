# SPDX-License-Identifier: Apache-2.0
"""Errors of reads and of checkpoints. Each is also one of Python's own exceptions."""

from __future__ import annotations

from ._library import Error


class StoreGoneError(ConnectionError):
    """The store was dropped."""


class StoreLostError(ConnectionError):
    """No process that has the rows can be reached: executors or the application have ended."""


class GrantError(PermissionError):
    """The grant of the handle has ended or was revoked, or an executor refuses its key."""


class HandleError(ValueError):
    """The file is no handle, of another version, or contradicts the rows."""


class CheckpointError(OSError):
    """A checkpoint cannot be saved or read. Earlier ones are unchanged."""


class CorruptCheckpointError(ValueError):
    """A file of a checkpoint is missing or not as it was written. The message names it and the remedy."""


_ERRORS: dict[int, type[Exception]] = {
    1: ValueError,
    2: HandleError,
    3: StoreGoneError,
    4: GrantError,
    5: GrantError,
    6: GrantError,
    7: StoreLostError,
    8: TimeoutError,
    10: MemoryError,
}


def error_of(error: Error, path: str = "") -> Exception:
    """Returns the exception of an error of the library; one of a handle names its file."""
    text = error.text.decode("utf-8", "replace")
    kind = _ERRORS.get(error.code, OSError)
    return kind(f"{path!r}: {text}" if kind is HandleError and path else text)
