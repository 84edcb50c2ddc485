// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Coverage;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.WorldRank;

/** The position of this rank's consumer in an epoch, and its coverage. One thread at a time. */
final class EpochProgress {
  private final BatchSampler sampler;
  private final WorldRank place;
  private final long rows;
  private final long epoch;
  private final long batches;
  private final long from;
  private final Coverage coverage;
  private long delivered;

  /** Creates the progress at a batch; earlier batches count as delivered. */
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
  void delivered(long[] samples, int size, int padding) {
    if (delivered < batches) {
      coverage.deliver(samples, size - padding, padding);
      delivered++;
    }
  }

  /**
   * Returns the receipt of the epoch that all ranks have begun. Collective.
   *
   * @param own returns the progress of this rank; its exceptions reach all ranks
   */
  static CoverageReceipt receipt(Communicator communicator, Supplier<EpochProgress> own) {
    AtomicReference<Coverage> contributed = new AtomicReference<>();
    Callable<byte[]> contribution =
        () -> {
          EpochProgress progress = own.get();
          contributed.set(progress.accounted()); // runs the sampler, whose errors reach all ranks
          return progress.describe().getBytes(UTF_8);
        };
    byte[][] epochs = communicator.exchange("receipt()", contribution);
    for (int rank = 0; rank < epochs.length; rank++) {
      if (!Arrays.equals(epochs[rank], epochs[0])) {
        throw new IllegalStateException(
            "epoch mismatch: rank %d is at \"%s\", rank 0 at \"%s\""
                .formatted(rank, new String(epochs[rank], UTF_8), new String(epochs[0], UTF_8)));
      }
    }
    communicator.allReduce(contributed.get().sums(), ReduceOp.SUM);
    return contributed.get().receipt();
  }

  /** Returns the text that must be equal on all ranks. */
  private String describe() {
    return "epoch %d of %d rows, %s".formatted(epoch, rows, sampler.describe(place.world()));
  }

  /** Returns this rank's sums for the receipt: delivered plus dropped minus expected. */
  private Coverage accounted() {
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
