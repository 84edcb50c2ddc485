package org.ddstore.sampling;

/** Cuts epochs into the batches of each rank. Immutable; any thread. */
public interface BatchSampler {
  /**
   * The batches of one rank in one epoch. Local: the ranks do not talk, each computes the same.
   *
   * @param rows of the data set
   * @param epoch number of the epoch, from 0
   * @throws IllegalArgumentException if there are too few rows for one batch a rank, with the
   *     numbers
   */
  EpochBatches epoch(long rows, WorldRank place, long epoch);

  /** As {@link Sampler#neverWaits()}, of the batches of an epoch; false unless overridden. */
  default boolean neverWaits() {
    return false;
  }

  /** What a sample is. */
  SampleSpace space();

  /**
   * All that the global batches depend on, in one short line: a state has it, and goes on only in
   * the same words.
   *
   * @param world how many ranks there are
   */
  String describe(int world);
}
