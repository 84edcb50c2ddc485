// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;

/**
 * A sampler of batches of similar cost rather than equal size, for ragged records: a batch has as
 * many rows as a limit on their cost allows. All ranks have the same number of batches, those of
 * one step have similar cost, and every row comes once per epoch. The number of batches is a
 * multiple of the batches of a step: where most batches have room for one row only, some batches of
 * a step can be empty. Immutable; the methods return changed copies.
 *
 * <p>Each rank computes the packing of all ranks when an epoch begins, which takes 16 bytes per
 * row.
 */
public final class CostAwareSampler implements BatchSampler {
  private final long seed;
  private final long[] costs;
  private final long maxCost;
  private final int batchesPerStep;
  private final String fingerprint;
  private final RowSubset subset; // null for all rows
  private final long[] costsOfAll;

  private CostAwareSampler(
      long seed, long maxCost, int batchesPerStep, RowSubset subset, long... costsOfAll) {
    this.seed = seed;
    this.maxCost = maxCost;
    this.batchesPerStep = batchesPerStep;
    this.subset = subset;
    this.costsOfAll = costsOfAll;
    this.costs = subset == null ? costsOfAll : subset.select(costsOfAll);
    this.fingerprint = Fingerprint.of(costs);
  }

  /**
   * @param costs cost of each row; must not be changed afterwards
   */
  static CostAwareSampler of(long seed, long maxCost, long... costs) {
    for (int row = 0; row < costs.length; row++) {
      if (costs[row] < 0 || costs[row] > maxCost) {
        throw new IllegalArgumentException(
            "cost %,d of row %,d outside [0, %,d], the largest cost of a batch"
                .formatted(costs[row], row, maxCost));
      }
    }
    return new CostAwareSampler(seed, maxCost, 0, null, costs);
  }

  /**
   * Sets the number of batches of a step, at least one for each rank; the number of ranks by
   * default. With a fixed number the epochs are the same for every number of ranks up to it: a rank
   * joins its share of a step into one batch.
   *
   * @param batches number of batches, at least one for each rank
   * @return a copy with this option
   */
  public CostAwareSampler batchesPerStep(int batches) {
    int checked = Checks.atLeastOne(batches, "batchesPerStep");
    return new CostAwareSampler(seed, maxCost, checked, subset, costsOfAll);
  }

  @Override
  public boolean neverWaits() {
    return true;
  }

  /**
   * Restricts the sampler as {@link BatchSampler#within}. The costs of all rows must still be at
   * most the largest cost of a batch.
   */
  @Override
  public CostAwareSampler within(RowSubset rows) {
    Objects.requireNonNull(rows, "rows is null");
    RowSubset both = subset == null ? rows : subset.and(rows);
    return new CostAwareSampler(seed, maxCost, batchesPerStep, both, costsOfAll);
  }

  @Override
  public SampleSpace space() {
    return subset == null ? SampleSpace.ROWS : SubsetSpace.of(SampleSpace.ROWS, subset);
  }

  @Override
  public String describe(int world) {
    return (subset == null ? "" : space().describe() + " ")
        + "costAware(%d, %d of %s)/%d".formatted(seed, maxCost, fingerprint, batchesOfStep(world));
  }

  private int batchesOfStep(int world) {
    return batchesPerStep == 0 ? world : batchesPerStep;
  }

  @Override
  public EpochBatches epoch(long rows, WorldRank place, long epoch) {
    Objects.requireNonNull(place, "place is null");
    long samples = space().samples(rows);
    Checks.samples(samples, costs.length, "costs");
    int step = batchesOfStep(place.world());
    if (samples < step || step < place.world()) {
      throw new IllegalArgumentException(
          "%,d rows in steps of %d batches cannot give each of %d ranks one batch: use fewer ranks, or set batchesPerStep(..) to at least their number"
              .formatted(samples, step, place.world()));
    }
    long key = KeyedHash.key(seed, epoch);
    return new CostBatches(CostPacking.of(costs, maxCost, step, key), step, place, key);
  }
}
