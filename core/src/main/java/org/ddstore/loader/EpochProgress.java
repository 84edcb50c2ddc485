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
  private final Coverage coverage;
  private long delivered;

  private EpochProgress(
      BatchSampler sampler, WorldRank place, long rows, long epoch, long batches) {
    this.sampler = sampler;
    this.place = place;
    this.rows = rows;
    this.epoch = epoch;
    this.batches = batches;
    this.coverage = new Coverage(sampler.space().samples(rows), epoch);
  }

  /**
   * At a batch; those before it count as delivered.
   *
   * @param plan of the epoch
   * @param from of [0, plan.batches()]
   */
  static EpochProgress at(
      BatchSampler sampler, WorldRank place, long rows, long epoch, EpochBatches plan, long from) {
    EpochProgress progress = new EpochProgress(sampler, place, rows, epoch, plan.batches());
    long[] samples = new long[from == 0 ? 0 : plan.maxSize()];
    for (long batch = 0; batch < from; batch++) {
      plan.fill(batch, samples);
      int padding = plan.padding(batch);
      progress.coverage.deliver(samples, plan.size(batch) - padding, padding);
      progress.delivered++;
    }
    return progress;
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
    Coverage copy = coverage.copy();
    copy.drop(sampler.epoch(rows, place, epoch).dropped(), place);
    copy.expectAll(place);
    return copy;
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
