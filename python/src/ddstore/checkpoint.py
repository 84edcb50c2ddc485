# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of a training: named streams of bytes, and the position of its ranks in their epoch.

>>> checkpoints = ddstore.checkpoint.Checkpoints("/shared/training")
>>> saved = checkpoints.latest()
>>> if saved is not None:
...     model.load_state_dict(torch.load(saved.reader("model"), weights_only=True))
...     loader.load_state_dict(saved.state)
>>> with checkpoints.save(loader.state_dict()) as to:
...     if rank == 0:
...         with to.writer("model") as file:
...             torch.save(model.state_dict(), file)

Files and rules are those of Java, which reads these checkpoints and the other way round::

    checkpoint-000002-1f3a9c04-0000000007                 manifest: states, streams, lengths and checksums
    data-000002-1f3a9c04/0000000007/r00000-model-000000   chunk 0 of the stream "model", written by rank 0
         |                |
         writer           number of the checkpoint

A checkpoint begins to exist when rank 0 renames its manifest, after all ranks have written their chunks. A process that
ends before leaves the earlier checkpoints as they were. Ranks that begin to save take the directory over: an earlier
group of ranks that still runs cannot publish any more.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ._checkpoint_files import (
    MOST_CHUNK,
    Directory,
    Files,
    Manifest,
    Name,
    Stream,
    chunk_file,
    crc32c,
    create,
    make_root,
)
from .errors import CheckpointError, CorruptCheckpointError
from .samplers import _integer, _place

__all__ = ["Checkpoint", "CheckpointError", "Checkpoints", "CorruptCheckpointError", "Save"]

_LOG = logging.getLogger("ddstore")

_STREAM = re.compile("[A-Za-z0-9._-]{1,100}")
_LEAST_CHUNK = 4096
_REMEDY = "check the path, its permissions and its free space"

#: Gets the bytes of this rank, and returns those of all ranks, by rank.
Gather = Callable[[bytes], list[bytes]]


class _ChunkWriter(io.RawIOBase):
    """A stream that is cut into files."""

    def __init__(self, save: Save, name: str) -> None:
        self._save = save
        self._name = name
        self._buffer = bytearray()
        self._is_over = False

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        if self.closed:
            raise ValueError(f'closed: stream "{self._name}"')
        view = memoryview(content)
        rest = view.cast("B") if view.nbytes > 0 else view[:0]
        size = self._save._chunk_size
        while rest:
            if len(self._buffer) == size:
                self._send()
            step = min(len(rest), size - len(self._buffer))
            self._buffer += rest[:step]
            rest = rest[step:]
        return view.nbytes

    def _send(self) -> None:
        self._save._write(self._name, self._buffer)
        self._buffer = bytearray()

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._buffer and not self._is_over:
                self._send()

    def discard(self) -> None:
        """Closes without writing the rest."""
        self._is_over = True
        self.close()


class Save:
    """The streams of this rank in a checkpoint that is being saved, by :meth:`Checkpoints.save`."""

    def __init__(self, root: Path, name: Name, rank: int, chunk_size: int) -> None:
        self.number = name.number
        self._root = root
        self._folder = root / name.folder
        self._rank = rank
        self._chunk_size = chunk_size
        self._streams: dict[str, Stream] = {}
        self._last: _ChunkWriter | None = None
        self._failure: OSError | None = None

    def writer(self, name: str) -> BinaryIO:
        """Opens a stream after the previous one was closed. Local; writes block.

        Args:
            name: name of the stream, unique over all ranks: 1 to 100 letters, digits, dots, underscores and hyphens.

        Returns:
            A file object that the caller closes, for ``torch.save``, ``pickle`` and the like.
        """
        if _STREAM.fullmatch(name) is None:
            raise ValueError(f'stream name "{name}" does not match {_STREAM.pattern}')
        self._check_closed()
        if name in self._streams:
            raise ValueError(f'stream "{name}" was written before: choose another name')
        self._streams[name] = Stream(self._rank, [])
        self._last = _ChunkWriter(self, name)
        return self._last  # type: ignore[return-value]  # a file object without reads

    def _check_closed(self) -> None:
        if self._last is not None and not self._last.closed:
            raise ValueError(
                f'stream "{self._last._name}" is still open: close it before the next one and before the save ends'
            )

    def _write(self, name: str, content: bytearray) -> None:
        chunks = self._streams[name].chunks
        try:
            make_root(self._root)
            self._folder.mkdir(parents=True, exist_ok=True)
            create(self._folder / chunk_file(self._rank, name, len(chunks)), content)
        except OSError as e:
            self._failure = self._failure or e
            raise
        chunks.append((len(content), crc32c(content)))


class _ChunkReader(io.RawIOBase):
    """A stream of verified chunks, of which one is in memory."""

    def __init__(self, files: Files, name: str) -> None:
        self._files = files
        self._name = name
        self._ends = list(accumulate(size for size, _ in files.manifest.streams[name].chunks))
        self._position = 0
        self._index = -1
        self._content = b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._ends[-1] if self._ends else 0}[whence]
        if begin + offset < 0:
            raise ValueError(f"position {begin + offset} is before the begin")
        self._position = begin + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        index = bisect_right(self._ends, self._position)
        if index == len(self._ends):
            return 0
        if index != self._index:
            self._content = self._files.chunk(self._name, index)
            self._index = index
        first = self._position - self._ends[index] + len(self._content)
        part = self._content[first : first + len(buffer)]
        buffer[: len(part)] = part
        self._position += len(part)
        return len(part)


class Checkpoint:
    """A published checkpoint, which stays readable until newer ones replace it. All methods are local.

    Attributes:
        number: its number in the directory, from 1.
        created: time of the publication, by the clock of rank 0.
        ranks: number of ranks that saved it.
        state: position at which it was saved, for ``load_state_dict`` of a loader.
        streams: names of the streams, in alphabetical order.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self.number = files.name.number
        self.created = files.manifest.created
        self.ranks = len(files.manifest.states)
        self.state = {"ddstore": files.manifest.states[0]}
        self.streams = sorted(files.manifest.streams)

    def __repr__(self) -> str:
        return f"<checkpoint {self.number} in {self._files.root}>"

    def length(self, name: str) -> int:
        """Returns the number of bytes of a stream; ValueError if there is none of this name."""
        if name not in self._files.manifest.streams:
            raise ValueError(f'{self!r} has no stream "{name}": it has {self.streams}')
        return sum(size for size, _ in self._files.manifest.streams[name].chunks)

    def reader(self, name: str) -> BinaryIO:
        """Opens a stream as a file object that can seek, closed by the caller.

        Each chunk is verified before its first byte is returned; a read of a damaged one raises
        CorruptCheckpointError. Bytes can be right and yet hostile: use ``torch.load(.., weights_only=True)``.

        Raises:
            ValueError: there is no stream of this name.
        """
        self.length(name)
        return io.BufferedReader(_ChunkReader(self._files, name))

    def read(self, name: str) -> bytes:
        """Returns all bytes of a stream, verified."""
        with self.reader(name) as file:
            return file.read()


class Checkpoints:
    """The checkpoints of one training in one directory, as one rank uses them. For one thread.

    Collective methods are called by all ranks in the same order, and block. They raise on all ranks if one fails.

    Args:
        folder: local or mounted directory that all ranks reach, of this training only. The first save creates it; the
            directory above it must exist.
        rank: this rank, in [0, world); by default that of torch.distributed or of the variables of torchrun.
        world: number of ranks.
        keep: number of checkpoints to keep; older ones are deleted after another is published.
        chunk_size: bytes of the files that streams are cut into, in [4096, 2^30].
        all_gather: function that gets bytes of this rank, and returns a list of those of all ranks; by default that of
            torch.distributed. It limits the time that ranks wait for each other.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        rank: int | None = None,
        world: int | None = None,
        keep: int = 3,
        chunk_size: int = 4 << 20,
        all_gather: Gather | None = None,
    ) -> None:
        path = os.fspath(folder)
        if not path.strip() or re.match("[A-Za-z][A-Za-z0-9+.-]*:/", path):
            raise ValueError(f"folder {path!r}: the path of a local or mounted directory is legal")
        self.folder = Path(os.path.abspath(path))
        self.rank, self.world = _place(rank, world)
        if self.rank >= self.world:
            raise ValueError(f"rank {self.rank} outside [0, {self.world})")
        self._keep = _integer("keep", keep, 1)
        self._chunk_size = _integer("chunk_size", chunk_size, _LEAST_CHUNK, MOST_CHUNK)
        if all_gather is None and self.world > 1:
            distributed = getattr(sys.modules.get("torch"), "distributed", None)
            if distributed is None or not distributed.is_initialized():
                raise ValueError(
                    f"checkpoints of {self.world} ranks: give all_gather, or initialize torch.distributed before"
                )
            all_gather = _gather_by(distributed)
        self._all_gather: Gather = (lambda own: [own]) if all_gather is None else all_gather
        self._directory = Directory(self.folder)
        self._next: Name | None = None

    def __repr__(self) -> str:
        return f"<checkpoints in {self.folder}, rank {self.rank} of {self.world}>"

    def latest(self) -> Checkpoint | None:
        """Returns the newest checkpoint; None if there is none. Collective.

        One whose writer ended before its manifest was complete does not count.

        Raises:
            CorruptCheckpointError: the newest one is damaged; the message names the file and the remedy.
            CheckpointError: the directory cannot be read.
        """
        return self._find(f"cannot read the latest checkpoint in {self.folder}", None)

    def open(self, number: int) -> Checkpoint:
        """Returns a checkpoint by its number. Collective.

        Raises:
            ValueError: there is none; the message lists the numbers of all.
            CorruptCheckpointError: it is damaged.
            CheckpointError: the directory cannot be read.
        """
        found = self._find(f"cannot read checkpoint {number} in {self.folder}", _integer("number", number))
        if found is None:
            raise ValueError(f"no checkpoint {number} in {self.folder}: the numbers are {self.numbers()}")
        return found

    def numbers(self) -> list[int]:
        """Returns the numbers of all checkpoints in ascending order. Collective."""
        names = self._on_rank_zero(
            f"cannot list the checkpoints in {self.folder}",
            lambda: json.dumps(sorted({name.number for name in self._directory.names()})).encode(),
        )
        numbers: list[int] = json.loads(names)
        return numbers

    def _find(self, what: str, number: int | None) -> Checkpoint | None:
        def find() -> bytes:
            files = self._directory.find(number)
            if files is None:
                return b""
            return f"{files.name.manifest}\n".encode() + (self.folder / files.name.manifest).read_bytes()

        description = self._on_rank_zero(what, find)
        if not description:
            return None
        first, _, content = description.partition(b"\n")
        name, manifest = Name.of(first.decode()), Manifest.parse(content)
        assert name is not None and manifest is not None
        return Checkpoint(Files(self.folder, name, manifest))

    @contextmanager
    def save(self, state: Mapping[str, str]) -> Iterator[Save]:
        """Saves a checkpoint in a ``with`` block, in which this rank writes its streams. Collective.

        All ranks call it after the same batch. At the end of the block it waits for the other ranks, and the checkpoint
        is published.

        Args:
            state: position of this rank, by ``state_dict()`` of a loader, equal on all ranks.

        Raises:
            CheckpointError: the storage failed on some rank, or another training has taken over the directory. Nothing
                is published.
            RuntimeError: the block has raised on another rank; the rank itself raises its own exception.
            ValueError: states differ, or two ranks write a stream of one name.
        """
        text = _state(state)
        if self._next is None:
            first = self._on_rank_zero(
                f"no checkpoint was saved to {self.folder}", lambda: self._directory.claim().manifest.encode()
            )
            self._next = Name.of(first.decode())
            assert self._next is not None
        name = self._next
        self._next = Name(name.writer, name.number + 1)
        to = Save(self.folder, name, self.rank, self._chunk_size)
        failure: BaseException | None = None
        try:
            yield to
            to._check_closed()
        except BaseException as e:
            failure = e
        if to._last is not None:
            to._last.discard()
        self._complete(name, to, text, failure)

    def _complete(self, name: Name, to: Save, state: str, failure: BaseException | None) -> None:
        failed = f"checkpoint {name.number} was not saved to {self.folder}"
        if to._failure is not None:
            outcome = f"!{to._failure}"
        elif failure is not None:
            outcome = f"?{type(failure).__name__}: {failure}"
        else:
            outcome = "+" + Manifest.part(self.rank, state, to._streams)
        try:
            outcomes = [own.decode() for own in self._gather(outcome.encode("utf-8", "replace"))]
        except Exception as e:
            if failure is not None:
                raise failure from e
            raise
        try:
            if failure is not None and to._failure is None:
                raise failure
            _check(outcomes, failed)
        except BaseException:
            self._clean_up("chunks of a failed save", lambda: self._directory.discard(name))
            raise
        self._on_rank_zero(failed, lambda: self._publish(name, [own[1:] for own in outcomes]))
        self._clean_up("an older checkpoint", lambda: self._directory.clean(name, self._keep))

    def _publish(self, name: Name, parts: list[str]) -> bytes:
        try:
            self._directory.publish(name, parts)
        except Exception:
            self._clean_up("chunks of a failed save", lambda: self._directory.discard(name))
            raise
        return b""

    def _clean_up(self, what: str, work: Callable[[], None]) -> None:
        """Cleans up on rank 0; a failure costs space only."""
        if self.rank == 0:
            try:
                work()
            except OSError as e:
                _LOG.warning("checkpoints in %s: %s could not be deleted: %s", self.folder, what, e)

    def _gather(self, own: bytes) -> list[bytes]:
        all_ranks = self._all_gather(own)
        if len(all_ranks) != self.world:
            raise ValueError(f"all_gather has returned {len(all_ranks)} values, expected {self.world}")
        return all_ranks

    def _on_rank_zero(self, what: str, work: Callable[[], bytes]) -> bytes:
        """Returns what the work returns on rank 0, or raises its failure. Collective."""
        own = b""
        failure: Exception | None = None
        if self.rank == 0:
            try:
                own = b"+" + work()
            except CorruptCheckpointError as e:
                own, failure = f"#{e}".encode("utf-8", "replace"), e
            except Exception as e:
                failure = e if isinstance(e, CheckpointError) else CheckpointError(f"{what}: {e}: {_REMEDY}")
                failure.__cause__ = None if failure is e else e
                own = f"!{failure}".encode("utf-8", "replace")
        result = self._gather(own)[0]
        if failure is not None:
            raise failure
        if result[:1] == b"+":
            return result[1:]
        raise (CorruptCheckpointError if result[:1] == b"#" else CheckpointError)(result[1:].decode())


def _state(state: Mapping[str, str]) -> str:
    """Returns the line of a state."""
    text = state["ddstore"]
    try:
        is_state = isinstance(json.loads(text), dict) and "\n" not in text and "\r" not in text
    except json.JSONDecodeError:
        is_state = False
    if not is_state or text != text.strip():
        raise ValueError(f"state {text!r}: what state_dict() of a loader returns is legal")
    return text


def _check(outcomes: list[str], failed: str) -> None:
    """Raises the failure of a rank, or an error if what the ranks have written does not fit together."""
    states: list[str] = []
    ranks: dict[str, int] = {}
    for rank, outcome in enumerate(outcomes):
        if outcome.startswith("!"):
            raise CheckpointError(f"{failed}: rank {rank}: {outcome[1:]}: {_REMEDY}; older checkpoints are unchanged")
        if outcome.startswith("?"):
            raise RuntimeError(f"{failed}: the block of rank {rank} has raised {outcome[1:]}")
        lines = outcome[1:].split("\n")
        states.append(lines[0].removeprefix(f"state {rank} "))
        if states[rank] != states[0]:
            raise ValueError(
                f"{failed}: rank {rank} is at {states[rank]}, rank 0 at {states[0]}:"
                " save after the same batch on all ranks"
            )
        for line in lines:
            if line.startswith("stream "):
                name = line.removeprefix(f"stream {rank} ")
                if ranks.setdefault(name, rank) != rank:
                    raise ValueError(
                        f'{failed}: ranks {ranks[name]} and {rank} write the stream "{name}":'
                        " write it on one rank, or add the rank to its name"
                    )


def _gather_by(distributed: Any) -> Gather:
    """Returns an all-gather of bytes by torch.distributed, without pickles."""
    torch = sys.modules["torch"]

    def gather(own: bytes) -> list[bytes]:
        device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
        lengths = torch.zeros(distributed.get_world_size(), dtype=torch.int64, device=device)
        lengths[distributed.get_rank()] = len(own)
        distributed.all_reduce(lengths)
        padded = torch.zeros(1 + int(lengths.max()), dtype=torch.uint8)
        padded.numpy()[: len(own)] = np.frombuffer(own, np.uint8)
        parts = [torch.empty_like(padded, device=device) for _ in lengths]
        distributed.all_gather(parts, padded.to(device))
        return [part.cpu().numpy()[:length].tobytes() for part, length in zip(parts, lengths.tolist(), strict=True)]

    return gather
