// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;

/**
 * A source of an order for each epoch. A custom sampler implements {@link #describe()} and {@link
 * #order}; an order must depend only on its arguments, so that all ranks get the same. Immutable.
 */
public interface Sampler {
  /**
   * {@return the sampler and everything that its orders depend on, such as {@code shuffled(42)}: a
   * state is resumed only by a sampler with an equal description}
   */
  String describe();

  /**
   * {@return the order of an epoch; its size is {@code positions(epoch.samples())}} An order that
   * is still being queried when the next epoch begins, or the loader is closed, is interrupted.
   *
   * @param epoch number and size of the epoch
   */
  SampleOrder order(Epoch epoch);

  /**
   * {@return the number of positions of an epoch over a number of samples; by default one per
   * sample}
   *
   * @param samples number of samples
   */
  default long positions(long samples) {
    return samples;
  }

  /** {@return the definition of a sample; by default one row} */
  default SampleSpace space() {
    return SampleSpace.ROWS;
  }

  /**
   * {@return whether orders and samples are only computed, in some nanoseconds each} If true, a
   * consumer that finds no batch ready can compute samples itself, within a wait that has a
   * deadline. False by default: code that reads a file, queries a server or takes a lock runs only
   * on the loader's threads, except {@link #order}, which runs where an epoch begins and where its
   * receipt is made.
   */
  default boolean neverWaits() {
    return false;
  }

  /**
   * {@return a sampler of the samples all of whose rows belong to a subset} The samples are
   * numbered anew from 0, in ascending order; a batch states their rows. With windows, each window
   * lies in the subset completely. Weights, labels and costs are still given for all rows of the
   * store. A second call restricts the sampler to the rows of both subsets. Takes a pass over all
   * samples if these are dilated windows or of a space of the user's own; otherwise a pass over the
   * runs of the subset.
   *
   * @param rows rows of the store
   * @throws IllegalArgumentException if there is no weight or label for a row of the subset, or too
   *     few rows for the draws of an epoch
   */
  default Sampler within(RowSubset rows) {
    Objects.requireNonNull(rows, "rows is null");
    return SubsetSampler.of(this, rows);
  }

  /**
   * {@return a sampler whose sample i is sample {@code samples.row(i)} of this one; by default this
   * sampler} {@link #within} uses it. To be overridden if the order depends on values of samples,
   * such as weights.
   *
   * @param samples numbers of the samples to keep
   */
  default Sampler forSamples(RowSubset samples) {
    Objects.requireNonNull(samples, "samples is null");
    return this;
  }

  /**
   * Rejects a batch size that this order does not support; accepts all by default.
   *
   * @param samples number of consecutive positions that are read together
   * @throws IllegalArgumentException if rejected; the message names the legal sizes
   */
  default void checkBatch(long samples) {}

  /**
   * {@return batches of this many samples on each rank, at least 1: the global batch grows with the
   * number of ranks}
   *
   * @param samples number of samples
   */
  default Batching batchSize(int samples) {
    return Batching.perRank(this, samples);
  }

  /**
   * {@return batches of this many samples over all ranks together, at least one for each rank: an
   * epoch is then the same for every number of ranks}
   *
   * @param samples number of samples
   */
  default Batching globalBatchSize(int samples) {
    return Batching.global(this, samples);
  }

  /**
   * The arguments of an order.
   *
   * @param samples number of samples of the data set, or of the ordered part of it
   * @param number epoch number, counted from 0
   * @param dropped number of positions at the end that no rank reads: an order should not have the
   *     same samples there in every epoch
   * @param part index of the ordered part, if each rank has a part of its own; otherwise 0
   */
  record Epoch(long samples, long number, long dropped, int part) {
    /**
     * {@return an epoch in which all samples are read}
     *
     * @param samples number of samples
     * @param number number of the epoch, at least 0
     */
    public static Epoch of(long samples, long number) {
      return new Epoch(samples, number, 0, 0);
    }

    /** Returns the distance by which a dropped end has moved since epoch 0, in [0, samples). */
    long drift() {
      return dropped == 0 ? 0 : Math.floorMod(Math.multiplyExact(number, dropped), samples);
    }
  }
}
