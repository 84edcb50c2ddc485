// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The packed batches as steps of the ranks: batches of similar cost form a step, the steps are in
 * random order, and the assignment of the batches of a step to ranks rotates from step to step, so
 * that no rank always has the most expensive one.
 */
final class CostBatches implements EpochBatches {
  private final CostPacking packing;
  private final int perStep;
  private final WorldRank place;
  private final int[] byCost;
  private final Permutation steps;

  CostBatches(CostPacking packing, int perStep, WorldRank place, long key) {
    this.packing = packing;
    this.perStep = perStep;
    this.place = place;
    this.byCost =
        IntStream.range(0, packing.batches())
            .boxed()
            .sorted(Comparator.comparingLong(batch -> packing.cost(batch)))
            .mapToInt(Integer::intValue)
            .toArray();
    this.steps = Permutation.keyed(packing.batches() / perStep, KeyedHash.key(key, 1));
  }

  private long first() {
    return WorldRank.first(perStep, place.rank(), place.world());
  }

  private long end() {
    return WorldRank.first(perStep, place.rank() + 1L, place.world());
  }

  /** Returns the packed batch that is number {@code member} of a step. */
  private int packed(long step, long member) {
    return byCost[(int) (steps.at(step) * perStep + (member + step) % perStep)];
  }

  @Override
  public long batches() {
    return steps.size();
  }

  @Override
  public int size(long batch) {
    return size(batch, first(), end());
  }

  private int size(long step, long from, long to) {
    int size = 0;
    for (long member = from; member < to; member++) {
      size += packing.size(packed(step, member));
    }
    return size;
  }

  @Override
  public long globalSize(long batch) {
    return size(batch, 0, perStep);
  }

  @Override
  public void fill(long batch, long[] samples) {
    int at = 0;
    for (long member = first(); member < end(); member++) {
      int packed = packed(batch, member);
      for (int i = 0; i < packing.size(packed); i++) {
        samples[at++] = packing.row(packed, i);
      }
    }
  }

  @Override
  public long position(long batch, int i) {
    int left = i;
    long member = first();
    while (left >= packing.size(packed(batch, member))) {
      left -= packing.size(packed(batch, member++));
    }
    return (long) packing.start(packed(batch, member)) + left;
  }

  @Override
  public int maxSize() {
    int largest = 0;
    for (long batch = 0; batch < batches(); batch++) {
      largest = Math.max(largest, size(batch));
    }
    return largest;
  }

  @Override
  public long positions() {
    return packing.rows();
  }
}
