// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * The six rounds of a {@link FeistelPermutation} over two small halves, looked up in place of
 * computed: the addend of a round depends on one half alone, which has few values. The results are
 * the same, in about half the time. Immutable; safe for use by several threads.
 */
final class RoundTables {
  /** Largest number of values of a half: the six tables then have 192 KiB, which fits a cache. */
  static final long MOST_VALUES = 1 << 14;

  /** Numbers that pass a round together: their look-ups overlap, and stay in a cache. */
  private static final int TOGETHER = 512;

  private final FeistelPermutation network;
  private final int a;
  private final int b;
  private final char[][] added;

  /**
   * Creates the tables.
   *
   * @param added addends of each round to one half, by the value of the other
   */
  RoundTables(FeistelPermutation network, int a, int b, char[]... added) {
    this.network = network;
    this.a = a;
    this.b = b;
    this.added = added;
  }

  void replace(long[] places, int from, int count) {
    int capacity = Math.min(TOGETHER, count);
    int[] left = new int[capacity];
    int[] right = new int[capacity];
    int[] addends = new int[capacity];
    int end = from + count;
    for (int first = from; first < end; first += TOGETHER) {
      int chunk = Math.min(TOGETHER, end - first);
      for (int i = 0; i < chunk; i++) {
        long number = places[first + i];
        long quotient = network.quotient(number);
        left[i] = (int) quotient;
        right[i] = (int) (number - quotient * b);
      }
      for (int round = 0; round < added.length; round += 2) {
        lookUp(added[round], right, addends, chunk);
        add(left, addends, a, chunk);
        lookUp(added[round + 1], left, addends, chunk);
        add(right, addends, b, chunk);
      }
      for (int i = 0; i < chunk; i++) {
        long number = (long) left[i] * b + right[i];
        places[first + i] = number < network.size() ? number : network.at(number);
      }
    }
  }

  private static void lookUp(char[] table, int[] values, int[] addends, int count) {
    for (int i = 0; i < count; i++) {
      addends[i] = table[values[i]];
    }
  }

  /** Adds in a separate loop, which the compiler vectorises. */
  private static void add(int[] changed, int[] by, int modulus, int count) {
    for (int i = 0; i < count; i++) {
      int less = changed[i] + by[i] - modulus;
      changed[i] = less + (less >> (Integer.SIZE - 1) & modulus);
    }
  }
}
