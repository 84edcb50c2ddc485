// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Locale;
import java.util.Objects;
import org.ddstore.types.Plural;

/**
 * A sampler of batches of equal size, cut from the order of a sampler. All ranks have the same
 * number of batches; a remainder that does not fill a batch is dropped, and differs from epoch to
 * epoch. Immutable; the methods return changed copies.
 */
public final class Batching implements BatchSampler {
  private static final int PER_RANK = 0;

  private final Sampler sampler;
  private final int batch;
  private final int globalBatch;
  private final Distribution distribution;
  private final Tail tail;

  private Batching(
      Sampler sampler, int batch, int globalBatch, Distribution distribution, Tail tail) {
    this.sampler = sampler;
    this.batch = batch;
    this.globalBatch = globalBatch;
    this.distribution = distribution;
    this.tail = tail;
  }

  static Batching perRank(Sampler sampler, int samples) {
    int batch = Checks.atLeastOne(samples, "batchSize");
    return new Batching(sampler, batch, PER_RANK, Distribution.SLICES, Tail.DROPPED);
  }

  static Batching global(Sampler sampler, int samples) {
    int batch = Checks.atLeastOne(samples, "globalBatchSize");
    return new Batching(sampler, PER_RANK, batch, Distribution.SLICES, Tail.DROPPED);
  }

  /**
   * Sets which rank reads which samples; {@link Distribution#SLICES} by default.
   *
   * @param distribution distribution of samples among ranks
   * @return a copy with this option
   */
  public Batching distribution(Distribution distribution) {
    Objects.requireNonNull(distribution, "distribution is null");
    return new Batching(sampler, batch, globalBatch, distribution, tail);
  }

  /**
   * Delivers every sample exactly once per epoch: the last batches are smaller, and can be empty on
   * some ranks.
   *
   * @return a copy with this option
   */
  public Batching everySample() {
    return new Batching(sampler, batch, globalBatch, distribution, Tail.KEPT);
  }

  /**
   * Delivers every sample once in batches of full size, for evaluation: the end is padded with
   * samples of weight 0.
   *
   * @return a copy with this option
   */
  public Batching evaluation() {
    return new Batching(sampler, batch, globalBatch, distribution, Tail.PADDED);
  }

  @Override
  public Batching within(RowSubset rows) {
    return new Batching(sampler.within(rows), batch, globalBatch, distribution, tail);
  }

  @Override
  public SampleSpace space() {
    return sampler.space();
  }

  @Override
  public boolean neverWaits() {
    return sampler.neverWaits();
  }

  @Override
  public EpochBatches epoch(long rows, WorldRank place, long epoch) {
    Objects.requireNonNull(place, "place is null");
    if (rows < 0 || epoch < 0) {
      throw new IllegalArgumentException(
          "%,d rows in epoch %,d: both must be at least 0".formatted(rows, epoch));
    }
    Cut cut = new Cut(globalBatch(place.world()), place, tail);
    return distribution == Distribution.CONTIGUOUS
        ? ShardBatches.of(sampler, rows, cut, epoch)
        : SharedBatches.of(sampler, rows, cut, epoch, distribution);
  }

  private int globalBatch(int world) {
    long global = globalBatch == PER_RANK ? (long) batch * world : globalBatch;
    if (global < world || global > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "a global batch of %s outside [%,d, %,d]: at least one for each of %d ranks"
              .formatted(Plural.of(global, "sample"), world, Integer.MAX_VALUE, world));
    }
    return (int) global;
  }

  /** Returns the sampler, a slash, the global batch, and the settings that are not defaults. */
  @Override
  public String describe(int world) {
    StringBuilder words = new StringBuilder();
    words.append(sampler.describe()).append('/').append(globalBatch(world));
    if (distribution != Distribution.SLICES) {
      words.append(' ').append(distribution.name().toLowerCase(Locale.ROOT));
    }
    if (distribution == Distribution.CONTIGUOUS) {
      words.append(' ').append(world);
    }
    if (tail != Tail.DROPPED) {
      words.append(' ').append(tail.name().toLowerCase(Locale.ROOT));
    }
    return words.toString();
  }

  /** One rank's part of the global batches, with the arithmetic that both distributions share. */
  record Cut(int global, WorldRank place, Tail tail) {
    int rank() {
      return place.rank();
    }

    int world() {
      return place.world();
    }

    long first(long size) {
      return WorldRank.first(size, rank(), world());
    }

    long end(long size) {
      return WorldRank.first(size, rank() + 1L, world());
    }

    long batches(long positions, long rows) {
      long full = positions / global;
      if (tail != Tail.DROPPED) {
        return full + (positions % global == 0 ? 0 : 1);
      }
      if (full == 0) {
        throw new IllegalArgumentException(
            "%s (%s an epoch) cannot give %s one batch of %,d: use smaller batches, fewer ranks, or everySample()"
                .formatted(
                    Plural.of(rows, "row"),
                    Plural.of(positions, "sample"),
                    world() == 1 ? "the rank" : "each of %d ranks".formatted(world()),
                    (global + world() - 1) / world()));
      }
      return full;
    }
  }
}
