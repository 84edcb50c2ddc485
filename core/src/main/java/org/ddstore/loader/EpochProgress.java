package org.ddstore.loader;

import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Coverage;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.WorldRank;

/**
 * The position of this rank's consumer in an epoch, and the coverage so far. Used by one thread at
 * a time.
 */
final class EpochProgress {
  private final BatchSampler sampler;
  private final WorldRank place;
  private final long rows;
  private final long epoch;
  private final long batches;
  private final long from;
  private final Coverage coverage;
  private long delivered;

  /**
   * Creates the progress at a batch; earlier batches count as delivered.
   *
   * @param batches batches of the epoch
   * @param from first batch, in [0, number of batches]
   */
  EpochProgress(
      BatchSampler sampler, WorldRank place, long rows, long epoch, long batches, long from) {
    this.sampler = sampler;
    this.place = place;
    this.rows = rows;
    this.epoch = epoch;
    this.batches = batches;
    this.from = from;
    this.delivered = from;
    this.coverage = new Coverage(sampler.space().samples(rows), epoch);
  }

  /** Counts a batch if it belongs to this epoch and not to samples pushed after it. */
  void delivered(BatchPlan plan) {
    if (delivered < batches) {
      coverage.deliver(plan.samples(), plan.size() - plan.padding(), plan.padding());
      delivered++;
    }
  }

  /** Returns this rank's sums for the receipt: delivered plus dropped minus expected. */
  Coverage accounted() {
    EpochBatches plan = sampler.epoch(rows, place, epoch);
    Coverage copy = coverage.copy();
    long[] samples = new long[from == 0 ? 0 : plan.maxSize()];
    for (long batch = 0; batch < from; batch++) {
      plan.fill(batch, samples);
      int padding = plan.padding(batch);
      copy.deliver(samples, plan.size(batch) - padding, padding);
    }
    copy.drop(plan.dropped(), place);
    copy.expectAll(place);
    return copy;
  }

  /** Returns the number of rows in the data set when the epoch began. */
  long rows() {
    return rows;
  }

  long epoch() {
    return epoch;
  }

  long done() {
    return delivered;
  }

  long remaining() {
    return batches - delivered;
  }
}
