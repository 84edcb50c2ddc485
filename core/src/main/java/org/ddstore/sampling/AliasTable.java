// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * A table that draws numbers in proportion to weights in constant time: the alias method of Walker
 * (1977), built as by Vose (1991). Takes 12 bytes per number. Immutable.
 */
final class AliasTable {
  private final double[] keep;
  private final int[] alias;

  /**
   * @param weights checked by {@link Checks#weights}
   */
  AliasTable(double... weights) {
    int count = weights.length;
    keep = new double[count];
    alias = new int[count];
    double sum = 0;
    for (double weight : weights) {
      sum += weight;
    }
    int[] waiting = new int[count]; // those below the mean from the left, the others from the right
    int below = 0;
    int above = count;
    for (int i = 0; i < count; i++) {
      keep[i] = weights[i] / sum * count;
      alias[i] = i;
      if (keep[i] < 1) {
        waiting[below++] = i;
      } else {
        waiting[--above] = i;
      }
    }
    while (below > 0 && above < count) {
      int small = waiting[--below];
      int large = waiting[above];
      alias[small] = large;
      keep[large] -= 1 - keep[small];
      if (keep[large] < 1) {
        above++;
        waiting[below++] = large;
      }
    }
    settle(waiting, below, above, weights);
  }

  /** Settles the numbers without a partner by rounding: full, or too light to be drawn. */
  private void settle(int[] waiting, int below, int above, double... weights) {
    for (int i = 0; i < below; i++) {
      if (weights[waiting[i]] > 0) {
        keep[waiting[i]] = 1;
      }
    }
    for (int i = above; i < alias.length; i++) {
      keep[waiting[i]] = 1;
    }
  }

  /** Returns the number that two random words draw. */
  int draw(long place, long choice) {
    int i = (int) KeyedHash.below(place, alias.length);
    return KeyedHash.open(choice) < keep[i] ? i : alias[i];
  }
}
