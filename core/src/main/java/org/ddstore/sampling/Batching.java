package org.ddstore.sampling;

import java.util.Locale;
import java.util.Objects;

/**
 * Batches of equal size cut out of the order of a sampler. All ranks have the same number of
 * batches; a rest that does not fill one is dropped, and is another in each epoch. Immutable; the
 * methods give changed copies.
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

  /** Which samples are whose; {@link Distribution#SLICES} unless set. */
  public Batching distribution(Distribution newDistribution) {
    Objects.requireNonNull(newDistribution, "newDistribution is null");
    return new Batching(sampler, batch, globalBatch, newDistribution, tail);
  }

  /**
   * Every sample once in every epoch: the last batches are smaller, and may be empty on some ranks.
   */
  public Batching everySample() {
    return new Batching(sampler, batch, globalBatch, distribution, Tail.KEPT);
  }

  /**
   * Every sample once and all batches of full size, for evaluation: what is missing at the end is
   * padded with samples of weight 0.
   */
  public Batching evaluation() {
    return new Batching(sampler, batch, globalBatch, distribution, Tail.PADDED);
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
          "a global batch of %,d samples outside [%,d, %,d]: at least one for each of %d ranks"
              .formatted(global, world, Integer.MAX_VALUE, world));
    }
    return (int) global;
  }

  /** The sampler, a slash, the global batch, and what is not as it is unless set. */
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

  /** One rank's cut of the global batches: the arithmetic that both ways of dividing share. */
  record Cut(int global, WorldRank place, Tail tail) {
    int rank() {
      return place.rank();
    }

    int world() {
      return place.world();
    }

    /** Where this rank's slice of {@code size} things begins. */
    long first(long size) {
      return WorldRank.first(size, rank(), world());
    }

    /** Where it ends. */
    long end(long size) {
      return WorldRank.first(size, rank() + 1L, world());
    }

    /** How many batches each rank has. */
    long batches(long positions, long rows) {
      long full = positions / global;
      if (tail != Tail.DROPPED) {
        return full + (positions % global == 0 ? 0 : 1);
      }
      if (full == 0) {
        throw new IllegalArgumentException(
            "%,d rows (%,d samples an epoch) cannot give each of %d ranks one batch of %,d: use smaller batches, fewer ranks, or everySample()"
                .formatted(rows, positions, world(), (global + world() - 1) / world()));
      }
      return full;
    }
  }
}
