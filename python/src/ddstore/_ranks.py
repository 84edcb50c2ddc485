# SPDX-License-Identifier: Apache-2.0
"""A rank of a run: the body of a barrier task of mapInArrow, in a Python worker of an executor."""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
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
import traceback
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ._store import Store, attach
from .errors import StoreLostError

if TYPE_CHECKING:
    import torch

    from .samplers import Sampler

_LOG = logging.getLogger("ddstore")

#: begins the word of an error message that has the failure of a rank
FAILURE = "ddstore-rank-failure:"

_MAX_TRACEBACK = 20_000
_MAX_OUTPUT = 1 << 20

#: messages of torch.distributed, whose errors have no type of their own before PyTorch 2
_PEER_ENDED = re.compile(r"by peer|Broken pipe|Connection refused|Connection reset|remote process exited")

#: longest time that a rank whose error follows from that of another lets this one be reported first
_LATER_FAILURE_S = 5.0

#: longest time of a rank that is done to wait for the others; Spark ends it earlier if one fails
_OTHERS = timedelta(days=1)


@dataclass(frozen=True)
class Body:
    """The function of mapInArrow.

    Attributes:
        train: the user's function, pickled.
        store: name of the store.
        attempt: number of this attempt, from 1.
        collective_timeout: longest wait for other ranks, in seconds.
        backend: of torch.distributed, ``none``, or None for the default.
        output: host, port and token of the driver's receiver of lines; None to return them with the result.
    """

    train: bytes
    store: str
    attempt: int
    collective_timeout: float
    backend: str | None
    output: tuple[str, int, str] | None

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        places = [place for batch in batches for place in batch.to_pylist()]
        if len(places) != 1:
            raise RuntimeError(f"a rank of store {self.store!r} has {len(places)} places: run without other operators")
        place = places[0]
        result, failure = b"", None
        with _Output(self.output, place["rank"], place["executor"]) as output, _Children():
            try:
                result = self._run(place)
            except _Failure as e:
                failure = e
        lines = output.text()
        if failure is not None:
            word = FAILURE + failure.encoded(place["rank"], lines)
            if failure.may_follow:
                time.sleep(_LATER_FAILURE_S)  # Spark ends this task as soon as it knows of the first failure
            raise RuntimeError(f"rank {place['rank']} of store {self.store!r} has failed {word}")
        yield pa.RecordBatch.from_pydict(
            {
                "rank": pa.array([place["rank"]], pa.int32()),
                "home": pa.array([place["home"]], pa.string()),
                "executor": pa.array([place["executor"]], pa.string()),
                "result": pa.array([result], pa.binary()),
                "output": pa.array([lines], pa.string()),
            }
        )

    def _run(self, place: dict[str, Any]) -> bytes:
        """Returns the pickled result of the function; raises _Failure."""
        from pyspark import BarrierTaskContext, cloudpickle

        group: _Group | None = None
        context = BarrierTaskContext.get()
        try:
            hosts = [info.address.rsplit(":", 1)[0] for info in context.getTaskInfos()]
            group = _Group(context, hosts, self.backend, timedelta(seconds=self.collective_timeout))
            with attach(place["handle"]) as store, Rank(group, store, place, self.attempt) as rank:
                try:
                    train: Callable[[Rank], Any] = cloudpickle.loads(self.train)
                except ModuleNotFoundError as e:
                    raise ModuleNotFoundError(
                        f"{e}: the function needs it; send it by --py-files, or addArtifacts with Spark Connect"
                    ) from None
                value = train(rank)
                try:
                    result: bytes = cloudpickle.dumps(value)
                except Exception as e:
                    raise TypeError(
                        f"the result of rank {rank.rank}, a {type(value).__name__}, cannot be pickled: {e}"
                    ) from None
            group.close()
            return result
        except BaseException as e:
            raise _Failure(e, group is None or group.is_first_failure()) from None


class _Failure(Exception):
    """An error of a rank.

    Attributes:
        of_peer: whether the end of another process is its likely cause, so that another attempt may succeed.
        may_follow: whether another rank may have failed before.
    """

    def __init__(self, error: BaseException, is_first: bool) -> None:
        super().__init__(str(error))
        self._error = error
        self.of_peer = _is_of_peer(error)
        self.may_follow = self.of_peer or not is_first

    def encoded(self, rank: int, output: str) -> str:
        """Returns the error as a word: messages of Spark lose everything else."""
        error = self._error
        lines = "".join(traceback.format_exception(type(error), error, _of_user(error)))
        message = str(error)[:_MAX_TRACEBACK]
        limit = _memory_limit()
        if isinstance(error, MemoryError) and limit is not None:
            message += f": spark.executor.pyspark.memory limits the process to {limit >> 20} MiB"
        failure = {
            "rank": rank,
            "type": type(error).__name__,
            "message": message,
            "traceback": lines[-_MAX_TRACEBACK:],
            "output": output[-_MAX_TRACEBACK:],
            "ofPeer": self.of_peer,
        }
        return base64.urlsafe_b64encode(zlib.compress(json.dumps(failure).encode("utf-8"))).decode("ascii")


def _is_of_peer(error: BaseException) -> bool:
    """Returns whether an error, or its stated cause, is that of a read or collective call whose peer has ended."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, StoreLostError) or (
            isinstance(cause, RuntimeError) and _PEER_ENDED.search(str(cause)) and _is_raised_by_torch(cause)
        ):
            return True
        cause = cause.__cause__
    return False


def _is_raised_by_torch(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and f"{os.sep}torch{os.sep}" in frames[-1].filename


def _of_user(error: BaseException) -> Any:
    """Returns the traceback without the frames of this module at its beginning."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    return frames


def _memory_limit() -> int | None:
    """Returns the limit of the address space in bytes, which Spark sets."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


class Rank:
    """A rank of :meth:`ddstore.spark.ResidentStore.run`, for the thread of the function.

    Attributes:
        rank: its number, in [0, world).
        world: number of ranks.
        local_rank: its number among the ranks of its host.
        local_world: number of ranks of its host.
        attempt: number of the attempt, from 1.
        is_home: whether it runs on the executor that holds its shard.
        executor: Spark's id of its executor.
        store: the rows of all ranks.
    """

    def __init__(self, group: _Group, store: Store, place: dict[str, Any], attempt: int) -> None:
        self.rank: int = group.rank
        self.world: int = len(group.hosts)
        self.local_rank: int = group.local_rank
        self.local_world: int = group.local_world
        self.attempt = attempt
        self.executor: str = place["executor"]
        self.is_home: bool = place["home"] == place["executor"]
        self.store = store
        self._group = group
        self._loaders = contextlib.ExitStack()
        if self.is_home:
            self._warn_of_limit()

    def _warn_of_limit(self) -> None:
        limit = _memory_limit()
        reach = self.store.statistics()
        if limit is not None and reach.mapped_segments < reach.segments:
            _LOG.warning(
                "rank %d reads %d of %d segments over data ports, because spark.executor.pyspark.memory limits it to "
                "%d MiB: raise it by the size of the store, or unset it",
                self.rank,
                reach.segments - reach.mapped_segments,
                reach.segments,
                limit >> 20,
            )

    def __enter__(self) -> Rank:
        return self

    def __exit__(self, *_: object) -> None:
        self._loaders.close()

    def __repr__(self) -> str:
        return f"<rank {self.rank} of {self.world} of store {self.store.name!r}>"

    @property
    def device(self) -> torch.device:
        """The GPU that Spark has given to this task, else the CPU."""
        import torch

        gpus = _gpus()
        return torch.device("cuda", int(gpus[0])) if gpus else torch.device("cpu")

    def loader(self, sampler: Sampler, **options: Any) -> Any:
        """Returns a :func:`ddstore.torch.loader` of the store, which is closed with the rank."""
        from . import torch as batches

        return self._loaders.enter_context(batches.loader(self.store, sampler, **options))

    def barrier(self) -> None:
        """Waits until all ranks are here: for at most the collective timeout, or Spark's without torch.distributed."""
        self._group.barrier()


def _gpus() -> list[str]:
    from pyspark import TaskContext

    context = TaskContext.get()
    resources = {} if context is None else context.resources()
    return list(resources["gpu"].addresses) if "gpu" in resources else []


class _Group:
    """What the ranks of a run share: torch.distributed, or Spark's barrier where torch is not installed."""

    def __init__(self, context: Any, hosts: list[str], backend: str | None, timeout: timedelta) -> None:
        self.rank = int(context.partitionId())
        self.hosts = hosts
        self.local_rank = hosts[: self.rank].count(hosts[self.rank])
        self.local_world = hosts.count(hosts[self.rank])
        self._context = context
        self._store: Any = None
        self._former = {name: os.environ.get(name) for name in self._environment("", "")}
        distributed = _distributed() if backend != "none" else None
        address = ""
        if distributed is not None and self.rank == 0:
            self._store = distributed.TCPStore(
                hosts[0], 0, len(hosts), is_master=True, timeout=timeout, wait_for_workers=False
            )
            address = f"{hosts[0]}:{self._store.port}"
        addresses = context.allGather(address)
        if distributed is None:
            os.environ.update(self._environment(hosts[0], ""))
            return
        if not addresses[0]:
            raise RuntimeError("rank 0 has no torch.distributed, but this rank has: install it everywhere or nowhere")
        host, port = addresses[0].rsplit(":", 1)
        if self._store is None:
            self._store = distributed.TCPStore(
                host, int(port), len(hosts), is_master=False, timeout=timeout, wait_for_workers=False
            )
        os.environ.update(self._environment(host, port))
        gpus = _gpus()
        if gpus:
            distributed.torch.cuda.set_device(int(gpus[0]))
        distributed.init_process_group(
            backend or ("nccl" if gpus and distributed.is_nccl_available() else "gloo"),
            store=distributed.PrefixStore("ddstore", self._store),
            rank=self.rank,
            world_size=len(hosts),
            timeout=timeout,
        )

    def _environment(self, host: str, port: str) -> dict[str, str]:
        """Returns the variables that torchrun would set."""
        return {
            "RANK": str(self.rank),
            "WORLD_SIZE": str(len(self.hosts)),
            "LOCAL_RANK": (_gpus() or [str(self.local_rank)])[0],  # programs take it for the number of their GPU
            "LOCAL_WORLD_SIZE": str(self.local_world),
            "MASTER_ADDR": host,
            "MASTER_PORT": port,
        }

    def barrier(self) -> None:
        if self._store is None:
            self._context.barrier()
        else:
            _distributed().barrier()

    def is_first_failure(self) -> bool:
        """Returns whether no other rank has failed before; the answer decides which error is shown."""
        if self._store is None:
            return True
        try:
            self._store.set_timeout(timedelta(seconds=2))
            return bool(self._store.add("ddstore/failures", 1) == 1)
        except Exception:  # rank 0, which has the store, has ended
            return False

    def close(self) -> None:
        """Ends the group after all ranks are done."""
        if self._store is not None:
            world = len(self.hosts)
            self._meet("done", _OTHERS)  # torch 2.5 can wait for ever if a rank destroys its group earlier
            if _distributed().is_initialized():  # a program may have done it
                _distributed().destroy_process_group()
            if self._store.add("ddstore/left", 1) == world:
                self._store.set("ddstore/all-left", "")
            if self.rank == 0:  # has the store
                with contextlib.suppress(Exception):
                    self._store.wait(["ddstore/all-left"], timedelta(seconds=10))
            self._store = None
        for name, value in self._former.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def _meet(self, name: str, timeout: timedelta) -> None:
        if self._store.add(f"ddstore/{name}", 1) == len(self.hosts):
            self._store.set(f"ddstore/all-{name}", "")
        self._store.wait([f"ddstore/all-{name}"], timeout)


def _distributed() -> Any:
    """Returns torch.distributed; None if it is not installed."""
    try:
        import torch.distributed as distributed
    except ImportError:
        return None
    return distributed if distributed.is_available() else None


#: Kills the process group of its parent when the parent ends.
_GUARD = """
import os, signal, sys, time
parent = int(sys.argv[1])
while os.getppid() == parent:
    time.sleep(0.2)
try:
    os.killpg(parent, signal.SIGKILL)
except ProcessLookupError:
    pass
"""

_PR_SET_PDEATHSIG = 1

#: longest number of searches for children at the end: one that is killed may have started another
_SCANS = 100


class _Children:
    """The child processes of a rank, which end with it: also if the worker or Spark's daemon is killed."""

    def __enter__(self) -> _Children:
        self._former = os.getpgrp()
        os.setpgid(0, 0)
        self._die_with_parent(int(signal.SIGKILL))
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _GUARD, str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._guard.kill()
        self._guard.wait()
        for _scan in range(_SCANS):
            left = list(_members(os.getpgrp()))
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0 if _is_child(pid) else os.WNOHANG)
            if not left:
                break
        self._die_with_parent(0)
        with contextlib.suppress(OSError):
            os.setpgid(0, self._former)

    @staticmethod
    def _die_with_parent(number: int) -> None:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def _is_child(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1]) == os.getpid()


def _members(group: int) -> Iterator[int]:
    """Returns the other processes of a process group, without the one that frees shared memory of Python."""
    tracker = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) not in (os.getpid(), getattr(tracker, "_pid", None)):
            with contextlib.suppress(OSError):
                if os.getpgid(int(entry)) == group:
                    yield int(entry)


class _Output:
    """The lines that a rank prints, also from C and child processes: sent to the driver, or kept for the result.

    They are also in the log of the executor, unless this is the process of the driver.
    """

    def __init__(self, receiver: tuple[str, int, str] | None, rank: int, executor: str) -> None:
        self._kept: deque[str] = deque()
        self._size = 0
        self._dropped = 0
        self._socket: socket.socket | None = None
        self._copied = executor != "driver"
        if receiver is not None:
            host, port, token = receiver
            try:
                self._socket = socket.create_connection((host, port), 5.0)
                self._socket.sendall(f"{token} {rank}\n".encode())
            except OSError as e:
                self._socket = None
                self._keep(f"(output is shown at the end: {host}:{port} of the driver: {e})\n")

    def __enter__(self) -> _Output:
        self._flush()
        self._streams = [(number, os.dup(number)) for number in (1, 2)]
        log = os.dup(2) if self._copied else None
        read, write = os.pipe()
        for number, _ in self._streams:
            os.dup2(write, number)
        os.close(write)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(line_buffering=True)
        self._thread = threading.Thread(target=self._pump, args=(read, log), name="ddstore-output", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        for number, former in self._streams:
            os.dup2(former, number)
        self._thread.join(2.0)  # until children that print have ended
        for stream in self._streams:
            os.close(stream[1])
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()

    @staticmethod
    def _flush() -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()

    def _pump(self, read: int, log: int | None) -> None:
        """Reads until all processes that print have ended, which may be later than the rank."""
        with open(read, encoding="utf-8", errors="replace", newline="") as lines:  # "\r" ends states of progress bars
            for line in lines:
                if log is not None:
                    with contextlib.suppress(OSError):
                        os.write(log, line.encode("utf-8"))
                self._deliver(line)
        if log is not None:
            os.close(log)

    def _deliver(self, line: str) -> None:
        if self._socket is not None:
            try:
                self._socket.sendall(line.encode("utf-8"))
                return
            except OSError:
                self._socket = None  # the driver has ended, or shows no more
        self._keep(line)

    def _keep(self, line: str) -> None:
        if line.endswith("\r"):
            return
        self._kept.append(line)
        self._size += len(line)
        while self._size > _MAX_OUTPUT:
            dropped = len(self._kept.popleft())
            self._size -= dropped
            self._dropped += dropped

    def text(self) -> str:
        note = f"(the first {self._dropped:,} characters are left out)\n" if self._dropped else ""
        return note + "".join(self._kept)
