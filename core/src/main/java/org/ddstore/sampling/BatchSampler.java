// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;

/** A sampler that cuts epochs into the batches of each rank. Immutable; thread-safe. */
public interface BatchSampler {
  /**
   * {@return the batches of one rank in one epoch} Local: every rank computes the same batches,
   * without communication.
   *
   * @param rows number of rows of the data set
   * @param place this rank, and the number of ranks
   * @param epoch epoch number, counted from 0
   * @throws IllegalArgumentException if there are too few rows for one batch per rank; the message
   *     states the numbers
   */
  EpochBatches epoch(long rows, WorldRank place, long epoch);

  /** {@return whether batches never wait, as {@link Sampler#neverWaits()}; false by default} */
  default boolean neverWaits() {
    return false;
  }

  /**
   * {@return a sampler of the samples all of whose rows belong to a subset} Receipts and states
   * then concern the subset: its samples are numbered anew from 0, in ascending order, and a state
   * is resumed only with an equal subset. Weights, labels and costs are still given for all rows of
   * the store. A second call restricts the sampler to the rows of both subsets. Local: give all
   * ranks an equal subset.
   *
   * @param rows rows of the store
   * @throws IllegalArgumentException if there is no weight, label or cost for a row of the subset,
   *     or too few rows for the draws of an epoch
   */
  default BatchSampler within(RowSubset rows) {
    Objects.requireNonNull(rows, "rows is null");
    return SubsetSampler.OfBatches.of(this, rows);
  }

  /** {@return the definition of a sample} */
  SampleSpace space();

  /**
   * {@return a short one-line description of everything that the global batches depend on} A state
   * stores it and is resumed only by a sampler with an equal description.
   *
   * @param world number of ranks
   */
  String describe(int world);
}
