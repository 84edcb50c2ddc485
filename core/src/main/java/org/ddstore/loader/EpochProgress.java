package org.ddstore.loader;

import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Coverage;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.WorldRank;

/**
 * How far this rank's consumer is in an epoch, and what it has seen of it. One thread at a time.
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
   * At a batch; those before it count as delivered.
   *
   * @param batches of the epoch
   * @param from of [0, batches]
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

  /** Counts a batch, if it is one of this epoch and not of what was pushed after it. */
  void delivered(BatchPlan plan) {
    if (delivered < batches) {
      coverage.deliver(plan.samples(), plan.size() - plan.padding(), plan.padding());
      delivered++;
    }
  }

  /** This rank's sums for the receipt: what it had, what is dropped, less what should be. */
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

  /** How many the data set had when the epoch began. */
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
