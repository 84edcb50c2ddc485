# SPDX-License-Identifier: Apache-2.0
"""The files of checkpoints, as Java has them too: names, manifests, checksums, and the work of rank 0."""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import CheckpointError, CorruptCheckpointError

_LOG = logging.getLogger("ddstore")

_WRITER = "[0-9]{6}-[0-9a-f]{8}"
_MANIFEST = re.compile(f"checkpoint-({_WRITER})-([0-9]{{10}})")
_FOLDER = re.compile(f"data-({_WRITER})")
_CREATED = re.compile(r"([0-9-]{10}T[0-9:]{8})(?:\.([0-9]{1,9}))?Z")
_LINE = re.compile(
    r"ranks (?P<ranks>[0-9]{1,5})"
    r"|state (?P<state>[0-9]{1,5}) (?P<json>\{[^\r\n]*\})"
    r"|stream (?P<stream>[0-9]{1,5}) (?P<name>[A-Za-z0-9._-]{1,100})"
    r"|chunk (?P<bytes>[0-9]{1,10}) (?P<crc>[0-9a-f]{8})"
)
_MAGIC = b"ddstore-checkpoint "
_HEADER_BYTES = len(_MAGIC) + 13  # "1 0123456789\n"
_END_BYTES = 13  # "end 01234567\n"
MOST_CHUNK = 1 << 30


def _table(columns: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Returns the sums over GF(2) of all choices of 16 columns."""
    table = np.zeros(1 << 16, np.uint32)
    for bit, column in enumerate(columns):
        table[1 << bit : 2 << bit] = table[: 1 << bit] ^ column
    return table


@cache
def _zeros(level: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Returns tables of the low and high half of a CRC-32C, which append 2^level words of zeros to what it is of."""
    if level > 0:
        low, high = _zeros(level - 1)
        once = np.concatenate([low[1 << np.arange(16)], high[1 << np.arange(16)]])
        columns = low[once & 0xFFFF] ^ high[once >> 16]
    else:
        columns = np.uint32(1) << np.arange(32, dtype=np.uint32)
        for _ in range(32):
            columns = columns >> np.uint32(1) ^ np.uint32(0x82F63B78) * (columns & np.uint32(1))
    return _table(columns[:16]), _table(columns[16:])


def crc32c(content: bytes | bytearray | memoryview) -> int:
    """Returns the CRC-32C (Castagnoli) of bytes, at some hundred MB/s: pairs of words are merged until one is left."""
    low, high = _zeros(0)
    value = 0xFFFFFFFF
    whole = memoryview(content).cast("B")
    head = len(whole) % 4
    for byte in whole[:head]:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0x82F63B78 * (value & 1)
    words = np.frombuffer(whole[head:], "<u4").astype(np.uint32)
    if len(words) == 0:
        return value ^ 0xFFFFFFFF
    words[0] ^= np.uint32(value)
    level = 0
    while len(words) > 1:
        if len(words) % 2 == 1:
            words = np.concatenate([np.zeros(1, np.uint32), words])  # leading zeros change nothing
        low, high = _zeros(level)
        words = low[words[::2] & 0xFFFF] ^ high[words[::2] >> 16] ^ words[1::2]
        level += 1
    low, high = _zeros(0)
    return int(low[words[0] & 0xFFFF] ^ high[words[0] >> 16]) ^ 0xFFFFFFFF


class Name(NamedTuple):
    """The name of a checkpoint; a later one is greater."""

    writer: str
    number: int

    @staticmethod
    def of(manifest: str) -> Name | None:
        parts = _MANIFEST.fullmatch(manifest)
        return None if parts is None else Name(parts[1], int(parts[2]))

    @property
    def manifest(self) -> str:
        return f"checkpoint-{self.writer}-{self.digits}"

    @property
    def digits(self) -> str:
        return f"{self.number:010d}"

    @property
    def folder(self) -> str:
        return f"data-{self.writer}/{self.digits}"


class Stream(NamedTuple):
    """A stream: the rank that wrote it, and the bytes and the CRC-32C of its chunks."""

    rank: int
    chunks: list[tuple[int, int]]


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint contains. As text in a file, with the CRC-32C of all lines above the last one::

    ddstore-checkpoint 1 0000000412          version of this format, bytes of the file
    created 2026-11-23T11:40:12Z
    ranks 1
    state 0 {"v":2,"e":3, .. }               rank, position in the epoch
    stream 0 model                           rank that wrote it, name
    chunk 4194304 0a1b2c3d                   bytes, CRC-32C
    end 1f3a9c04
    """

    created: datetime
    states: list[str]
    streams: dict[str, Stream]

    @staticmethod
    def part(rank: int, state: str, streams: Mapping[str, Stream]) -> str:
        """Returns the lines of one rank."""
        lines = [f"state {rank} {state}\n"]
        for name, stream in streams.items():
            lines.append(f"stream {rank} {name}\n")
            lines += [f"chunk {size} {crc:08x}\n" for size, crc in stream.chunks]
        return "".join(lines)

    @staticmethod
    def to_bytes(parts: list[str]) -> bytes:
        created = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        lines = f"created {created}\nranks {len(parts)}\n{''.join(parts)}".encode()
        content = _MAGIC + f"1 {_HEADER_BYTES + len(lines) + _END_BYTES:010d}\n".encode() + lines
        return content + f"end {crc32c(content):08x}\n".encode()

    @staticmethod
    def parse(content: bytes) -> Manifest | None:
        """Returns a manifest; None if only a prefix of it is there. Raises ValueError if it is none, or has changed."""
        if not content.startswith(_MAGIC):
            if _MAGIC.startswith(content):
                return None
            raise ValueError('it does not begin with "ddstore-checkpoint"')
        if len(content) < _HEADER_BYTES:
            return None
        header = content[len(_MAGIC) : _HEADER_BYTES].decode("ascii", "replace")
        words = re.fullmatch(r"(\S+) ([0-9]{10})\n", header)
        if words is None:
            raise ValueError(f"its first line has {header!r} after its name")
        if words[1] != "1":
            raise ValueError(f"it has version {words[1]}, this release reads version 1")
        if len(content) < int(words[2]):
            return None
        if len(content) > int(words[2]):
            raise ValueError(f"it has {len(content)} bytes, its first line says {int(words[2])}")
        lines, end = content[:-_END_BYTES], content[-_END_BYTES:]
        if end != f"end {crc32c(lines):08x}\n".encode():
            raise ValueError("its checksum does not match its content")
        return Manifest._lines(lines[_HEADER_BYTES:].decode().split("\n")[:-1])

    @staticmethod
    def _lines(lines: list[str]) -> Manifest:
        first = lines[0] if lines else ""
        created = _CREATED.fullmatch(first.removeprefix("created "))
        if created is None:
            raise ValueError(f"a line cannot be parsed: {first[:200]!r}")
        time = datetime.strptime(f"{created[1]}.{(created[2] or '0')[:6]}+0000", "%Y-%m-%dT%H:%M:%S.%f%z")
        ranks = 0
        states: list[str] = []
        streams: dict[str, Stream] = {}
        chunks: list[tuple[int, int]] | None = None
        for line in lines[1:]:
            found = _LINE.fullmatch(line)
            if found is None:
                raise ValueError(f"a line cannot be parsed: {line[:200]!r}")
            if found["ranks"] is not None:
                ranks = int(found["ranks"])
            elif found["state"] is not None and int(found["state"]) == len(states):
                states.append(found["json"])
            elif found["stream"] is not None and found["name"] not in streams and int(found["stream"]) < ranks:
                chunks = []
                streams[found["name"]] = Stream(int(found["stream"]), chunks)
            elif found["bytes"] is not None and chunks is not None and 0 < int(found["bytes"]) <= MOST_CHUNK:
                chunks.append((int(found["bytes"]), int(found["crc"], 16)))
            else:
                raise ValueError(f"a line is not legal here: {line!r}")
        if ranks == 0 or len(states) != ranks:
            raise ValueError(f"it has the states of {len(states)} ranks, expected {ranks}")
        return Manifest(time, states, streams)


def create(path: Path, content: bytes | bytearray) -> None:
    """Writes a file that does not exist; it is on the disk on return."""
    with open(path, "xb", buffering=0) as file:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())


def _delete(path: Path) -> None:
    """Deletes a file or a folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def make_root(root: Path) -> None:
    """Makes the directory of checkpoints, not those above it: a missing one can be a missing mount."""
    if not root.parent.is_dir():
        raise FileNotFoundError(f"no such directory: {root.parent}")
    root.mkdir(exist_ok=True)


class Files(NamedTuple):
    """The files of a published checkpoint."""

    root: Path
    name: Name
    manifest: Manifest

    def corrupt(self, problem: str) -> CorruptCheckpointError:
        return CorruptCheckpointError(
            f"checkpoint {self.name.number} in {self.root} is damaged: {problem}:"
            f" delete {self.name.manifest} to continue with the checkpoint before it"
        )

    def chunk(self, name: str, index: int) -> bytes:
        """Returns a chunk whose length and checksum are right."""
        stream = self.manifest.streams[name]
        size, crc = stream.chunks[index]
        path = f"{self.name.folder}/{chunk_file(stream.rank, name, index)}"
        try:
            with open(self.root / path, "rb", buffering=0) as file:
                content = file.readall() if os.fstat(file.fileno()).st_size == size else None
        except FileNotFoundError:
            raise self.corrupt(f"{path} is missing") from None
        if content is None or len(content) != size:
            raise self.corrupt(f"{path} has another length, expected {size} bytes")
        found = crc32c(content)
        if found != crc:
            raise self.corrupt(f"{path} has the checksum {found:08x}, expected {crc:08x}")
        return content

    def wrong_length(self) -> str | None:
        """Returns the first file that is missing or has another length, with both lengths."""
        entries = _entries(self.root / self.name.folder)
        lengths = {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
        for name, stream in self.manifest.streams.items():
            for index, (size, _) in enumerate(stream.chunks):
                file = chunk_file(stream.rank, name, index)
                found = lengths.get(file)
                if found != size:
                    problem = "is missing" if found is None else f"has {found} bytes, expected {size}"
                    return f"{self.name.folder}/{file} {problem}"
        return None


def chunk_file(rank: int, stream: str, index: int) -> str:
    return f"r{rank:05d}-{stream}-{index:06d}"


class Directory:
    """What rank 0 does in a directory of checkpoints. Manifests decide which exist."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> list[Name]:
        """Returns the names of all manifests, the newest first."""
        if not self.root.parent.is_dir():
            raise FileNotFoundError(f"no such directory: {self.root.parent}")
        return sorted(filter(None, (Name.of(entry.name) for entry in _entries(self.root))), reverse=True)

    def read(self, name: Name) -> Files | None:
        """Returns a checkpoint; None if its writer ended before the manifest was complete."""
        path = self.root / name.manifest
        problem = "it is no file"
        if path.is_file():
            try:
                manifest = Manifest.parse(path.read_bytes())
                return None if manifest is None else Files(self.root, name, manifest)
            except ValueError as e:
                problem = str(e)
        elif not path.exists():
            raise FileNotFoundError(f"no such file: {path}")
        raise CorruptCheckpointError(
            f"{name.manifest} in {self.root} is not a manifest of a checkpoint: {problem}:"
            " delete it to continue with the checkpoint before it"
        )

    def find(self, number: int | None) -> Files | None:
        """Returns the checkpoint of a number, or the newest one, with its lengths checked."""
        for name in self.names():
            if number is not None and name.number != number:
                continue
            files = self.read(name)
            if files is not None:
                problem = files.wrong_length()
                if problem is not None:
                    raise files.corrupt(problem)
                return files
            _LOG.warning(
                "checkpoint %d in %s is skipped: its writer ended before the manifest was complete",
                name.number,
                self.root,
            )
        return None

    def claim(self) -> Name:
        """Makes the caller the only writer that can publish; returns the name of its first checkpoint."""
        make_root(self.root)
        generation, number, incomplete = 0, 0, []
        for entry in _entries(self.root):
            name = Name.of(entry.name)
            temporary = Name.of(entry.name[1:-4]) if re.fullmatch(r"\..*\.tmp", entry.name) else None
            folder = _FOLDER.fullmatch(entry.name)
            known = name or temporary
            writer = known.writer if known is not None else "" if folder is None else folder[1]
            generation = max(generation, int(writer.partition("-")[0] or 0))
            number = max(number, 0 if name is None else name.number)
            if temporary is not None or (name is not None and self._is_incomplete(name)):
                incomplete.append(entry.name)
        first = Name(f"{generation + 1:06d}-{os.urandom(4).hex()}", number + 1)
        folder_of_writer = self.root / f"data-{first.writer}"
        folder_of_writer.mkdir()
        create(folder_of_writer / "claim", f"since {datetime.now(timezone.utc).isoformat()}\n".encode())
        for file in incomplete:
            _delete(self.root / file)
        return first

    def _is_incomplete(self, name: Name) -> bool:
        try:
            return self.read(name) is None
        except CorruptCheckpointError:
            return False  # for the user to judge

    def publish(self, name: Name, parts: list[str]) -> None:
        """Publishes the lines of all ranks, unless another writer has claimed the directory."""
        content = Manifest.to_bytes(parts)
        manifest = Manifest.parse(content)
        assert manifest is not None
        failed = f"checkpoint {name.number} was not saved"
        for entry in _entries(self.root):
            folder = _FOLDER.fullmatch(entry.name)
            if folder is not None and folder[1] > name.writer:
                raise CheckpointError(
                    f"{failed}: writer {folder[1]} has taken over {self.root} from writer {name.writer}:"
                    " give each training its own directory"
                )
        problem = Files(self.root, name, manifest).wrong_length()
        if problem is not None:
            raise CheckpointError(
                f"{failed}: rank 0 does not see what the ranks have written to {self.root}: {problem}:"
                " use a directory that all hosts share"
            )
        temporary = self.root / f".{name.manifest}.tmp"
        create(temporary, content)
        os.rename(temporary, self.root / name.manifest)
        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def discard(self, name: Name) -> None:
        """Deletes a failed checkpoint: the manifest first, which may be published despite the failure."""
        _delete(self.root / name.manifest)
        _delete(self.root / name.folder)

    def clean(self, published: Name, keep: int) -> None:
        """Deletes all but the newest checkpoints, and chunks that no manifest names; manifests before their chunks."""
        kept: dict[str, set[str]] = {}
        for number, name in enumerate(self.names()):
            if number < keep or name >= published:
                kept.setdefault(name.writer, set()).add(name.digits)
            else:
                _delete(self.root / name.manifest)
        for entry in _entries(self.root):
            folder = _FOLDER.fullmatch(entry.name)
            if folder is None or folder[1] > published.writer:
                continue
            numbers = kept.get(folder[1])
            if numbers is None:
                _delete(self.root / entry.name)
                continue
            for part in _entries(self.root / entry.name):
                is_old = folder[1] < published.writer or part.name < published.digits
                if part.is_dir() and is_old and part.name not in numbers:
                    _delete(Path(part.path))
