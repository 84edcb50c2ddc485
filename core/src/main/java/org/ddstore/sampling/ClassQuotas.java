// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Arrays;
import org.ddstore.layout.ExtentMap;

/** The number of blocks of each class in an epoch without replacement, and their order. */
final class ClassQuotas {
  private final int blockRows;
  private final long[] firstBlock;

  private ClassQuotas(int blockRows, long... firstBlock) {
    this.blockRows = blockRows;
    this.firstBlock = firstBlock;
  }

  /**
   * Computes the most blocks that the scarcest class allows, in proportion to the weights.
   *
   * @throws IllegalArgumentException if a class with a weight has less than one block
   */
  static ClassQuotas of(ClassRows rows, int blockRows, double... weights) {
    double scarcest = Double.POSITIVE_INFINITY;
    for (int label = 0; label < weights.length; label++) {
      if (weights[label] > 0) {
        scarcest = Math.min(scarcest, rows.size(label) / weights[label]);
      }
    }
    long[] first = new long[weights.length + 1];
    for (int label = 0; label < weights.length; label++) {
      // Rounding can put a quota just below the whole number that it is.
      long quota = (long) Math.floor(scarcest * weights[label] * (1 + 1e-12));
      quota = Math.min(quota, rows.size(label)); // tiny weights overflow
      if (weights[label] > 0 && quota < blockRows) {
        throw new IllegalArgumentException(
            "class %d (weight %s) has %,d rows in an epoch without replacement, less than a block of %,d: raise its weight or set it to 0, use smaller blocks, or use withReplacement(..)"
                .formatted(label, weights[label], quota, blockRows));
      }
      first[label + 1] = first[label] + quota / blockRows;
    }
    return new ClassQuotas(blockRows, first);
  }

  long samples() {
    return firstBlock[firstBlock.length - 1] * blockRows;
  }

  SampleOrder order(ClassRows rows, long seed, Sampler.Epoch epoch) {
    int classes = firstBlock.length - 1;
    Permutation[] turns = new Permutation[classes];
    long[] start = new long[classes];
    for (int label = 0; label < classes; label++) {
      turns[label] = Permutation.keyed(rows.size(label), KeyedHash.key(seed, 1, label));
      long quota = (firstBlock[label + 1] - firstBlock[label]) * blockRows;
      start[label] = quota == 0 ? 0 : Math.floorMod(epoch.number() * quota, rows.size(label));
    }
    long key = KeyedHash.key(seed, 0, epoch.number(), epoch.part());
    return new Order(rows, Permutation.keyed(firstBlock[classes], key), turns, start);
  }

  private final class Order implements SampleOrder {
    private final ClassRows rows;
    private final Permutation blocks;
    private final Permutation[] turns;
    private final long[] start;

    Order(ClassRows rows, Permutation blocks, Permutation[] turns, long... start) {
      this.rows = rows;
      this.blocks = blocks;
      this.turns = turns;
      this.start = start;
    }

    @Override
    public long size() {
      return samples();
    }

    @Override
    public long at(long position) {
      long block = blocks.at(position / blockRows);
      int label = ExtentMap.lastAtMost(firstBlock, block); // a class may have no block
      long turn = start[label] + (block - firstBlock[label]) * blockRows + position % blockRows;
      long size = turns[label].size();
      return rows.row(label, turns[label].at(turn >= size ? turn - size : turn));
    }
  }

  @Override
  public String toString() {
    return "ClassQuotas[blocks of %d from %s]".formatted(blockRows, Arrays.toString(firstBlock));
  }
}
