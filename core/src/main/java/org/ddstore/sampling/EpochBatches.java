package org.ddstore.sampling;

/**
 * The batches of one rank in one epoch, all known before it and computed when asked for, in any
 * order. Every rank has the same number of them, so that no rank waits in a collective for one that
 * has ended; a batch may be empty. Used by one thread at a time.
 */
public interface EpochBatches {
  /** How many batches this and every other rank has. */
  long batches();

  /** How many samples a batch has, padding included. */
  int size(long batch);

  /** How many samples of a batch, the last ones, only pad it: they are of weight 0. */
  default int padding(long batch) {
    return 0;
  }

  /** How many samples all ranks together have in a batch, without padding. */
  long globalSize(long batch);

  /**
   * Writes the samples of a batch.
   *
   * @param samples gets {@link #size} numbers from 0 on
   */
  void fill(long batch, long[] samples);

  /**
   * The position in the epoch of sample {@code i} of a batch: no other of any rank has it. That of
   * padding is {@link #positions()} or more.
   */
  long position(long batch, int i);

  /** The largest {@link #size} of all batches. */
  int maxSize();

  /** How many positions the epoch has: those of all ranks, and those that are in no batch. */
  long positions();

  /** Those that are in no batch of any rank, in any order. */
  default SampleOrder dropped() {
    return SampleOrder.of();
  }

  /** The part that this rank has of a global batch, by which to weigh its gradients: of [0, 1]. */
  default double share(long batch) {
    long all = globalSize(batch);
    return all == 0 ? 0 : (double) (size(batch) - padding(batch)) / all;
  }
}
