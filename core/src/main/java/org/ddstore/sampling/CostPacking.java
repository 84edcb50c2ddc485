// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.PriorityQueue;

/**
 * A packing of rows into batches of nearly equal cost: rows in random order, the most costly first
 * by powers of two, each into the batch with the lowest cost so far (list scheduling: Graham,
 * 1969). The order within a power of two is random, so batches differ from epoch to epoch.
 */
final class CostPacking {
  private static final int BANDS = Long.SIZE + 1;

  private final int[] rows;
  private final int[] starts;
  private final long[] costOfBatch;

  private CostPacking(int[] rows, int[] starts, long... costOfBatch) {
    this.rows = rows;
    this.starts = starts;
    this.costOfBatch = costOfBatch;
  }

  /**
   * @param costs costs in [0, maxCost]
   * @param multiple divisor of the number of batches
   */
  static CostPacking of(long[] costs, long maxCost, int multiple, long key) {
    long total = 0;
    for (long cost : costs) {
      total = Math.addExact(total, cost);
    }
    int[] order = costlyFirst(costs, key);
    long batches =
        roundUp(Math.max(1, maxCost == 0 ? 1 : (total + maxCost - 1) / maxCost), multiple);
    while (true) {
      CostPacking packing = pack(costs, order, Math.toIntExact(batches));
      if (packing.highestCost() <= maxCost) {
        return packing;
      }
      // One row per batch always fits, so this loop ends.
      batches = roundUp(batches + Math.max(1, batches / 64), multiple);
    }
  }

  private static long roundUp(long number, int multiple) {
    return (number + multiple - 1) / multiple * multiple;
  }

  private static int[] costlyFirst(long[] costs, long key) {
    int[] next = new int[BANDS + 1];
    for (long cost : costs) {
      next[Long.numberOfLeadingZeros(cost) + 1]++;
    }
    for (int band = 0; band < BANDS; band++) {
      next[band + 1] += next[band];
    }
    Permutation drawn = Permutation.keyed(costs.length, KeyedHash.key(key, 0));
    int[] order = new int[costs.length];
    for (int i = 0; i < order.length; i++) {
      int row = (int) drawn.at(i);
      order[next[Long.numberOfLeadingZeros(costs[row])]++] = row;
    }
    return order;
  }

  private static CostPacking pack(long[] costs, int[] order, int batches) {
    long[] cost = new long[batches];
    int[] size = new int[batches];
    int[] batchOf = new int[order.length];
    PriorityQueue<Integer> cheapest =
        new PriorityQueue<>(
            batches,
            (a, b) -> {
              int byCost = Long.compare(cost[a], cost[b]);
              int bySize = byCost == 0 ? Integer.compare(size[a], size[b]) : byCost;
              return bySize == 0 ? Integer.compare(a, b) : bySize;
            });
    for (int batch = 0; batch < batches; batch++) {
      cheapest.add(batch);
    }
    for (int i = 0; i < order.length; i++) {
      int batch = cheapest.remove();
      batchOf[i] = batch;
      cost[batch] += costs[order[i]];
      size[batch]++;
      cheapest.add(batch);
    }
    int[] starts = new int[batches + 1];
    for (int batch = 0; batch < batches; batch++) {
      starts[batch + 1] = starts[batch] + size[batch];
    }
    int[] next = starts.clone();
    int[] rows = new int[order.length];
    for (int i = 0; i < order.length; i++) {
      rows[next[batchOf[i]]++] = order[i];
    }
    return new CostPacking(rows, starts, cost);
  }

  private long highestCost() {
    long highest = 0;
    for (long cost : costOfBatch) {
      highest = Math.max(highest, cost);
    }
    return highest;
  }

  int batches() {
    return costOfBatch.length;
  }

  long cost(int batch) {
    return costOfBatch[batch];
  }

  int size(int batch) {
    return starts[batch + 1] - starts[batch];
  }

  int rows() {
    return rows.length;
  }

  /** Returns the position of the first row of a batch among the rows of all batches. */
  int start(int batch) {
    return starts[batch];
  }

  int row(int batch, int i) {
    return rows[starts[batch] + i];
  }
}
