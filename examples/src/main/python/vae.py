# SPDX-License-Identifier: Apache-2.0
"""Trains a variational autoencoder with PyTorch on all ranks, as ``./ddstore example vae`` does in Java.

``store.run(train)`` runs it in each rank of a store of images. At equal seed and global batch it has the losses of the
Java example but for the rounding of float, on any number of ranks: the same network, first parameters, order of images
and noise. It continues from the last checkpoint, also after the loss of a rank, and on another number of ranks.
"""

import math

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.functional import binary_cross_entropy_with_logits, relu
from torch.nn.parallel import DistributedDataParallel

from ddstore import samplers
from ddstore.checkpoint import Checkpoints

PIXELS, HIDDEN, LATENT = 28 * 28, 400, 20
LAYERS = {
    "encoder": (PIXELS, HIDDEN),
    "mean": (HIDDEN, LATENT),
    "log_variance": (HIDDEN, LATENT),
    "decoder": (LATENT, HIDDEN),
    "image": (HIDDEN, PIXELS),
}
TEST_NOISE = -1  # epoch number of the noise of test images, which is the same in all epochs
GOLDEN = 0x9E3779B97F4A7C15


def random(seeds, count):
    """Returns the first numbers of Java's SplittableRandom for each seed, uint64 of the shape (seeds, count)."""
    z = np.asarray(seeds, np.uint64)[:, None] + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def uniform(seeds, count):
    """Returns numbers in [0, 1)."""
    return (random(seeds, count) >> np.uint64(11)) * 2.0**-53


def noise(seed, epoch, rows):
    """Returns normally distributed numbers that depend on row and epoch, not on the rank; of the shape (rows, 20)."""
    first = random([(seed ^ epoch * GOLDEN) % 2**64], 1)[0]
    pairs = uniform(first ^ rows.astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93), LATENT).reshape(-1, LATENT // 2, 2)
    radius, angle = np.sqrt(-2 * np.log(1 - pairs[..., 0])), 2 * math.pi * pairs[..., 1]
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    return torch.from_numpy(normal.reshape(-1, LATENT).astype(np.float32))


class Vae(torch.nn.Module):
    """The network 784-400-20-400-784."""

    def __init__(self, seed):
        super().__init__()
        values = uniform([seed % 2**64], sum((inputs + 1) * outputs for inputs, outputs in LAYERS.values()))[0]
        for name, (inputs, outputs) in LAYERS.items():
            own, values = np.split(values, [(inputs + 1) * outputs])
            own = torch.from_numpy(((2 * own - 1) / math.sqrt(inputs)).astype(np.float32))
            layer = torch.nn.Linear(inputs, outputs)
            layer.weight.data = own[: inputs * outputs].view(inputs, outputs).t().contiguous()
            layer.bias.data = own[inputs * outputs :].clone()
            self.add_module(name, layer)

    def forward(self, images, noise):
        """Returns the sum over images of the cross-entropy of the pixels and the divergence of the code."""
        hidden = relu(self.encoder(images))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        code = mean + (log_variance / 2).exp() * noise
        logits = self.image(relu(self.decoder(code)))
        divergence = (mean.square() + log_variance.exp() - log_variance - 1).sum() / 2
        return binary_cross_entropy_with_logits(logits, images, reduction="sum") + divergence


def train(rank, epochs=5, batch=64, seed=42, folder=None, every=50):
    """Trains on one rank; returns the losses of training and test images of each epoch. Collective.

    Args:
        batch: images of a step over all ranks.
        seed: seed of the first parameters, of the order of the images and of the noise.
        folder: folder of checkpoints that all ranks reach, of this training only; None for none.
        every: steps between two checkpoints; another one is saved after each epoch.
    """
    is_test = rank.store.get_batch(np.arange(len(rank.store)), fields=["test"])["test"]
    batching = {"global_batch_size": batch, "tail": "keep", "rank": rank.rank, "world": rank.world}
    reading = {"fields": ["image"], "cast": {"image": ("float32", 1 / 255)}}
    loader = rank.loader(samplers.shuffled(seed, **batching).within(np.flatnonzero(~is_test)), **reading)
    tests = rank.loader(samplers.sequential(**batching).within(np.flatnonzero(is_test)), **reading)

    vae = Vae(seed)
    parallel = DistributedDataParallel(vae)
    adam = torch.optim.Adam(vae.parameters(), lr=1e-3)
    losses = torch.zeros(0, 2, dtype=torch.float64)  # of training and test images, by epoch
    sums = torch.zeros(2, dtype=torch.float64)  # of the epoch: loss and images
    steps = 0
    checkpoints = None if folder is None else Checkpoints(folder, rank=rank.rank, world=rank.world)
    saved = None if checkpoints is None else checkpoints.latest()
    if saved is not None:
        state = torch.load(saved.reader("vae"), weights_only=True)
        vae.load_state_dict(state["model"])
        adam.load_state_dict({**adam.state_dict(), "state": state["moments"]})
        losses, sums, steps = state["losses"], state["sums"], state["steps"]
        loader.load_state_dict(saved.state)

    def save():
        if checkpoints is not None:
            with checkpoints.save(loader.state_dict()) as to:
                if rank.rank == 0:
                    state = {"model": vae.state_dict(), "moments": adam.state_dict()["state"]}
                    with to.writer("vae") as file:
                        torch.save({**state, "losses": losses, "sums": sums, "steps": steps}, file)

    def loss_of(network, epoch, batches, batch):
        """Returns the loss of the images of this rank, and the sums over all ranks of loss and images."""
        loss = network(batch["image"].flatten(1), noise(seed, epoch, batches.rows))
        reduced = torch.tensor([loss.item(), len(batch["image"])], dtype=torch.float64)
        dist.all_reduce(reduced)
        return loss, reduced

    for epoch in range(len(losses), epochs):
        for images in loader:
            loss, reduced = loss_of(parallel, epoch, loader, images)
            adam.zero_grad()
            (loss * rank.world / reduced[1]).backward()  # the mean over ranks is the gradient of the global batch
            adam.step()
            sums += reduced
            steps += 1
            if steps % every == 0:
                save()
        with torch.no_grad():
            tests.set_epoch(0)
            tested = sum(loss_of(vae, TEST_NOISE, tests, images)[1] for images in tests)
        mean, test_mean = sums[0] / sums[1], tested[0] / tested[1]
        losses = torch.cat([losses, torch.stack([mean, test_mean])[None]])
        sums.zero_()
        save()
        receipt = loader.receipt(dist)
        if rank.rank == 0:
            print(f"Epoch {epoch + 1:2}  loss {mean:.2f}, of test images {test_mean:.2f}; {receipt}", flush=True)
    return losses.tolist()
