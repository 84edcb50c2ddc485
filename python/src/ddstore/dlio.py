# SPDX-License-Identifier: Apache-2.0
"""The rows of a store as samples of the benchmark DLIO, for classes named in its YAML.

The file of a handle takes the place of DLIO's data files. It lies in the folder ``train`` or ``valid`` of
``dataset.data_folder``, both of which must exist, and its name ends with ``dataset.format``:

    dataset:
      data_folder: /data/dlio # the handle is /data/dlio/train/store.indexed_binary
      format: indexed_binary
      num_files_train: 1
      num_samples_per_file: 4000 # rows of the store
    reader:
      data_loader_classname: ddstore.dlio.StoreDataLoader
      data_loader_sampler: none

:class:`StoreDataLoader` reads whole batches with threads. ``reader_classname: ddstore.dlio.StoreReader`` reads single
rows for DLIO's own ``DataLoader`` of PyTorch and its worker processes instead. Written for dlio-benchmark 2.0.0 with
``framework: pytorch``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from dlio_benchmark.common.enumerations import DataLoaderType, DatasetType, Shuffle
from dlio_benchmark.data_loader.base_data_loader import BaseDataLoader
from dlio_benchmark.reader.reader_handler import FormatReader

import ddstore.torch
from ddstore import samplers


def _attach(file: str, samples_per_file: int) -> ddstore.Store:
    """Opens the store of a handle, if it has the number of rows that the YAML gives."""
    store = ddstore.attach(file)
    if len(store) != samples_per_file:
        rows = len(store)
        store.close()
        raise ValueError(f"num_samples_per_file {samples_per_file}: the store of {file!r} has {rows} rows")
    return store


class StoreReader(FormatReader):
    """Reads one row per sample, with all its fields, in the process that asks for it.

    As with all readers of DLIO, the consumer gets an array of the size after preprocessing, and the row is let go.
    """

    def __init__(self, dataset_type: DatasetType, thread_index: int, epoch: int) -> None:
        super().__init__(dataset_type, thread_index)
        self._stores: dict[str, ddstore.Store] = {}

    def open(self, filename: str) -> ddstore.Store:
        """Returns the store of a handle, which is opened once: DLIO opens and closes the file for each sample."""
        if filename not in self._stores:
            self._stores[filename] = _attach(filename, self._args.num_samples_per_file)
        return self._stores[filename]

    def close(self, filename: str) -> None:
        """Keeps the store open until :meth:`finalize`."""

    def get_sample(self, filename: str, sample_index: int) -> ddstore.Batch:
        """Reads a row into new memory; returns it as a batch of one row."""
        store: ddstore.Store = self.open_file_map[filename]
        return store.get_batch(np.array([sample_index], np.int64))

    def next(self) -> Iterator[Any]:
        """Yields the batches of this thread, for loaders that do not ask for indices."""
        yield from super().next()

    def read_index(self, image_idx: int, step: int) -> Any:
        """Reads a sample by its number in the data set; returns an array of the size after preprocessing."""
        return super().read_index(image_idx, step)

    def finalize(self) -> None:
        """Closes the stores."""
        while self._stores:
            self._stores.popitem()[1].close()

    def is_index_based(self) -> bool:
        return True

    def is_iterator_based(self) -> bool:
        return True


class StoreDataLoader(BaseDataLoader):
    """Yields the batches of this rank as :func:`ddstore.torch.loader` does: tensors by field, with whole rows.

    ``read_threads`` threads read ``prefetch_size`` batches at the same time, 2 or more. With a ``sample_shuffle``, each
    epoch has another order of all rows, over all ranks, which depends on ``train.seed`` only. Samples that do not fill
    a batch of all ranks are left out, others in each epoch.
    """

    def __init__(self, format_type: Any, dataset_type: DatasetType, epoch_number: int) -> None:
        super().__init__(format_type, dataset_type, epoch_number, DataLoaderType.CUSTOM)
        self._epoch = 0
        #: the loader of the store, after :meth:`read`
        self.loader: ddstore.torch.Loader | None = None

    def read(self) -> None:
        """Opens the store of the handle.

        Raises:
            ValueError: there is not one handle, or the store has another number of rows than the YAML gives.
        """
        args = self._args
        is_train = self.dataset_type is DatasetType.TRAIN
        files = args.file_list_train if is_train else args.file_list_eval
        if len(files) != 1:
            name = "num_files_train" if is_train else "num_files_eval"
            raise ValueError(f"{name} {len(files)}: one handle is legal, in {args.data_folder}/{self.dataset_type}")
        store = _attach(files[0], args.num_samples_per_file)
        place = {"batch_size": self.batch_size, "rank": args.my_rank, "world": args.comm_size}
        in_order = args.sample_shuffle is Shuffle.OFF
        sampler = samplers.sequential(**place) if in_order else samplers.shuffled(args.seed, **place)
        ahead = max(1, (args.prefetch_size or 2) - 1)  # beside the batch that the loop waits for
        self.loader = ddstore.torch.loader(store, sampler, prefetch=ahead, threads=max(1, args.read_threads))

    def next(self) -> Iterator[ddstore.torch.Tensors]:
        """Yields the batches of the next epoch. DLIO leaves the loop at the last one."""
        if self.loader is None:
            raise RuntimeError("next() before read()")
        self.loader.set_epoch(self._epoch)
        self._epoch += 1
        yield from self.loader

    def finalize(self) -> None:
        """Has no effect: DLIO calls it after each epoch, and goes on with the next one."""
