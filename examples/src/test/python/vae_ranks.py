# SPDX-License-Identifier: Apache-2.0
"""Trains vae.py on ranks that are processes of this host, and prints the losses: PythonVae.java runs it.

First on two ranks, then again on two of which one is killed, and on with three from its last checkpoint.
"""

import json
import multiprocessing
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "main/python"))

import torch
import torch.distributed as dist
import vae

import ddstore
import ddstore.torch
from ddstore.checkpoint import Checkpoints

WAIT_S = 120
EPOCHS = 3
#: 10 steps an epoch; checkpoints are saved at steps 4, 8, 10, 12 and so on.
TRAINING = {"epochs": EPOCHS, "batch": 60, "every": 4}
DIES_AFTER = 17


def run(handle, folder, rank, world, dies_after):
    """Trains as one rank; writes the losses to a file."""
    dist.init_process_group(
        "gloo", f"file://{folder}/meeting{world}", timedelta(seconds=WAIT_S), rank=rank, world_size=world
    )
    if dies_after is not None:
        step = torch.optim.Adam.step
        left = iter(range(dies_after))

        def step_or_die(self):
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return step(self)

        torch.optim.Adam.step = step_or_die
    with ddstore.attach(handle) as store:
        place = SimpleNamespace(
            rank=rank,
            world=world,
            store=store,
            loader=lambda sampler, **options: ddstore.torch.loader(store, sampler, **options),
        )
        losses = vae.train(place, folder=f"{folder}/saved", **TRAINING)
    (folder / f"losses{rank}").write_text(json.dumps(losses))
    dist.destroy_process_group()


def on_ranks(handle, folder, world, victim=None):
    """Runs all ranks in processes of their own; returns their exit codes."""
    processes = [
        multiprocessing.Process(target=run, args=(handle, folder, rank, world, DIES_AFTER if rank == victim else None))
        for rank in range(world)
    ]
    try:
        for process in processes:
            process.start()
        for process in processes:
            process.join(2 * WAIT_S)
        return [process.exitcode for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.join()


def losses(folder, world):
    each = [json.loads((folder / f"losses{rank}").read_text()) for rank in range(world)]
    assert each.count(each[0]) == world, each
    training, tests = zip(*each[0], strict=True)
    return {"losses": training, "testLosses": tests}


def main(handle, work):
    two, killed = Path(work, "two"), Path(work, "killed")
    two.mkdir()
    killed.mkdir()
    assert on_ranks(handle, two, 2) == [0, 0]
    codes = on_ranks(handle, killed, 2, victim=1)
    assert codes[1] == -signal.SIGKILL and codes[0] > 0, codes
    left = Checkpoints(killed / "saved", rank=0, world=1).latest()
    assert left is not None
    assert on_ranks(handle, killed, 3) == [0, 0, 0]
    position = json.loads(left.state["ddstore"])
    resumed = {"ranks": left.ranks, "epoch": position["e"], "batch": position["b"], **losses(killed, 3)}
    print(json.dumps({**losses(two, 2), "resumed": resumed}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
