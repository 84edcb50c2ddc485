package org.ddstore.sampling;

/**
 * Gives each epoch an order. To write one's own, implement {@link #describe()} and {@link #order};
 * an order must depend on its arguments alone, so that all ranks get the same. Immutable.
 */
public interface Sampler {
  /**
   * The sampler and all that its orders depend on, as in {@code shuffled(42)}: a state is resumed
   * only by a sampler of the same words.
   */
  String describe();

  /**
   * The order of an epoch; its size is {@code positions(epoch.samples())}. An order that is still
   * asked when the next epoch begins, or the loader is closed, is interrupted.
   */
  SampleOrder order(Epoch epoch);

  /** How many positions an epoch over so many samples has; each sample one unless overridden. */
  default long positions(long samples) {
    return samples;
  }

  /** What a sample is; one row unless overridden. */
  default SampleSpace space() {
    return SampleSpace.ROWS;
  }

  /**
   * Whether orders and samples are only computed, in some nanoseconds each: a consumer that finds
   * no batch ready, or that asks again at once, may then compute some itself, within a wait that
   * has a deadline. False unless overridden: code that reads a file, asks a server or takes a lock
   * runs on the loader's threads alone, but for {@link #order}, which runs where an epoch begins
   * and where its receipt is made.
   */
  default boolean neverWaits() {
    return false;
  }

  /**
   * Refuses a batch that this order cannot be cut into; any is taken unless overridden.
   *
   * @param samples consecutive positions that are read together
   * @throws IllegalArgumentException naming the legal sizes
   */
  default void checkBatch(long samples) {}

  /**
   * Batches of this many samples on each rank, at least 1: the global batch grows with the ranks.
   */
  default Batching batchSize(int samples) {
    return Batching.perRank(this, samples);
  }

  /**
   * Batches of this many samples over all ranks together, at least one for each rank: an epoch is
   * then the same for every number of ranks.
   */
  default Batching globalBatchSize(int samples) {
    return Batching.global(this, samples);
  }

  /**
   * What an order is to be made for.
   *
   * @param samples of the data set, or of the part of it that is ordered
   * @param number of the epoch, from 0
   * @param dropped how many positions at the end nobody will read: an order should not have the
   *     same samples there in every epoch
   * @param part which of the parts is ordered, if each rank has one of its own; 0 otherwise
   */
  record Epoch(long samples, long number, long dropped, int part) {
    /** An epoch in which all samples are read. */
    public static Epoch of(long samples, long number) {
      return new Epoch(samples, number, 0, 0);
    }

    /** By how much a dropped end has moved since epoch 0, in [0, samples). */
    long drift() {
      return dropped == 0 ? 0 : Math.floorMod(Math.multiplyExact(number, dropped), samples);
    }
  }
}
