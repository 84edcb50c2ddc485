package org.ddstore.sampling;

import java.util.Objects;

/**
 * Batches of like cost instead of like size, for ragged records: a batch has as many rows as a
 * bound on their cost allows. All ranks have the same number of batches, those of one step have
 * similar cost, and every row comes once in every epoch. The number of batches is a multiple of
 * those of a step: where most batches have room for one row only, some of one step may be empty.
 * Immutable; the methods give changed copies.
 *
 * <p>Each rank computes the packing of all for itself when an epoch begins: a moment, and 16 bytes
 * a row.
 */
public final class CostAwareSampler implements BatchSampler {
  private final long seed;
  private final long[] costs;
  private final long maxCost;
  private final int batchesPerStep;
  private final String fingerprint;

  private CostAwareSampler(
      long seed, long maxCost, int batchesPerStep, String fingerprint, long... costs) {
    this.seed = seed;
    this.maxCost = maxCost;
    this.batchesPerStep = batchesPerStep;
    this.fingerprint = fingerprint;
    this.costs = costs;
  }

  /**
   * @param costs stay as they are from now on
   */
  static CostAwareSampler of(long seed, long maxCost, long... costs) {
    for (int row = 0; row < costs.length; row++) {
      if (costs[row] < 0 || costs[row] > maxCost) {
        throw new IllegalArgumentException(
            "cost %,d of row %,d outside [0, %,d], the most that a batch may cost"
                .formatted(costs[row], row, maxCost));
      }
    }
    return new CostAwareSampler(seed, maxCost, 0, Fingerprint.of(costs), costs);
  }

  /**
   * So many batches make a step, at least one for each rank; as many as ranks unless set. A number
   * that is set makes epochs the same for every number of ranks up to it: a rank joins its share of
   * a step into one batch.
   */
  public CostAwareSampler batchesPerStep(int batches) {
    int checked = Checks.atLeastOne(batches, "batchesPerStep");
    return new CostAwareSampler(seed, maxCost, checked, fingerprint, costs);
  }

  @Override
  public boolean neverWaits() {
    return true;
  }

  @Override
  public SampleSpace space() {
    return SampleSpace.ROWS;
  }

  @Override
  public String describe(int world) {
    return "costAware(%d, %d of %s)/%d".formatted(seed, maxCost, fingerprint, batchesOfStep(world));
  }

  private int batchesOfStep(int world) {
    return batchesPerStep == 0 ? world : batchesPerStep;
  }

  @Override
  public EpochBatches epoch(long rows, WorldRank place, long epoch) {
    Objects.requireNonNull(place, "place is null");
    Checks.samples(rows, costs.length, "costs");
    int step = batchesOfStep(place.world());
    if (rows < step || step < place.world()) {
      throw new IllegalArgumentException(
          "%,d rows in steps of %d batches cannot give each of %d ranks one batch: use fewer ranks, or batchesPerStep(..) from their number on"
              .formatted(rows, step, place.world()));
    }
    long key = KeyedHash.key(seed, epoch);
    return new CostBatches(CostPacking.of(costs, maxCost, step, key), step, place, key);
  }
}
