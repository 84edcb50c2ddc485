// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * A sampler that cuts epochs into the batches of each rank. Immutable; safe for use by several
 * threads.
 */
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

  /**
   * {@return whether the batches of an epoch never wait, as {@link Sampler#neverWaits()}; false by
   * default}
   */
  default boolean neverWaits() {
    return false;
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
