// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * A permutation in constant memory, of at most 192 KiB: a Feistel network of six rounds over pairs
 * of [0, a) x [0, b) with a = ceil(sqrt(size)) and b = ceil(size / a), so that a * b exceeds the
 * size by less than a. Numbers outside the range are permuted again until one is inside (cycle
 * walking: Black and Rogaway, 2002), which is rare: the cost does not jump where the size passes a
 * power of two.
 */
final class FeistelPermutation implements Permutation {
  static final long MAX_SIZE = 1L << 61;

  /** Numbers that pass a round together: 11 ns each, as multiplications overlap; 22 alone. */
  private static final int TOGETHER = 32;

  private final long size;
  private final long a;
  private final long b;
  private final long inverse; // 2^63 / b, rounded down, and below 2^63

  /** Lookup tables, made when many numbers are first requested; two threads can make equal ones. */
  private RoundTables tables;

  private final long key0;
  private final long key1;
  private final long key2;
  private final long key3;
  private final long key4;
  private final long key5;

  FeistelPermutation(long size, long key) {
    this.size = size;
    this.a = ceilSqrt(size);
    this.b = (size + a - 1) / a;
    this.inverse = Long.divideUnsigned(1L << 63, b) - (b == 1 ? 1 : 0);
    key0 = KeyedHash.word(key, 0);
    key1 = KeyedHash.word(key, 1);
    key2 = KeyedHash.word(key, 2);
    key3 = KeyedHash.word(key, 3);
    key4 = KeyedHash.word(key, 4);
    key5 = KeyedHash.word(key, 5);
  }

  private static long ceilSqrt(long number) {
    long root = (long) Math.sqrt((double) number);
    while (root * root >= number) {
      root--;
    }
    while (root * root < number) {
      root++;
    }
    return root;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public long at(long position) {
    long number = position;
    do {
      long left = quotient(number);
      long right = number - left * b;
      left = add(left, right ^ key0, a);
      right = add(right, left ^ key1, b);
      left = add(left, right ^ key2, a);
      right = add(right, left ^ key3, b);
      left = add(left, right ^ key4, a);
      right = add(right, left ^ key5, b);
      number = left * b + right;
    } while (number >= size);
    return number;
  }

  @Override
  public void replace(long[] places, int from, int count) {
    if (a > RoundTables.MOST_VALUES) {
      compute(places, from, count);
      return;
    }
    RoundTables made = tables;
    if (made == null) {
      made = tabulated();
      tables = made;
    }
    made.replace(places, from, count);
  }

  private RoundTables tabulated() {
    return new RoundTables(
        added(key0, b, a),
        added(key1, a, b),
        added(key2, b, a),
        added(key3, a, b),
        added(key4, b, a),
        added(key5, a, b));
  }

  /** Returns what a round adds, modulo {@code modulus}, by the value of the other half. */
  private static char[] added(long key, long values, long modulus) {
    char[] added = new char[(int) values];
    for (int value = 0; value < added.length; value++) {
      added[value] = (char) KeyedHash.below(KeyedHash.mix(value ^ key), modulus);
    }
    return added;
  }

  private void compute(long[] places, int from, int count) {
    long[] left = new long[TOGETHER];
    long[] right = new long[TOGETHER];
    int end = from + count;
    for (int first = from; first < end; first += TOGETHER) {
      int chunk = Math.min(TOGETHER, end - first);
      for (int i = 0; i < chunk; i++) {
        left[i] = quotient(places[first + i]);
        right[i] = places[first + i] - left[i] * b;
      }
      round(left, right, key0, a, chunk);
      round(right, left, key1, b, chunk);
      round(left, right, key2, a, chunk);
      round(right, left, key3, b, chunk);
      round(left, right, key4, a, chunk);
      round(right, left, key5, b, chunk);
      for (int i = 0; i < chunk; i++) {
        long number = left[i] * b + right[i];
        places[first + i] = number < size ? number : at(number);
      }
    }
  }

  private static void round(long[] changed, long[] by, long key, long modulus, int count) {
    for (int i = 0; i < count; i++) {
      changed[i] = add(changed[i], by[i] ^ key, modulus);
    }
  }

  /** Returns number / b for a number in [0, 2^61]; the multiplication is at most 1 too low. */
  private long quotient(long number) {
    long low = Math.multiplyHigh(number << 1, inverse);
    return low + (number - low * b >= b ? 1 : 0);
  }

  private static long add(long value, long keyed, long modulus) {
    long less = value + KeyedHash.below(KeyedHash.mix(keyed), modulus) - modulus;
    return less + (less >> (Long.SIZE - 1) & modulus); // no branch, which would be unpredictable
  }

  /**
   * The six rounds over two small halves, looked up instead of computed: the addend of a round
   * depends on one half alone, which has few values. The results are the same, in about half the
   * time. Immutable; safe for use by several threads.
   */
  private final class RoundTables {
    /** Largest number of values of a half: the six tables then have 192 KiB, which fits a cache. */
    static final long MOST_VALUES = 1 << 14;

    /** Numbers that pass a round together: their look-ups overlap, and stay in a cache. */
    private static final int BLOCK = 512;

    private final char[][] added;

    /**
     * @param added addends of each round to one half, by the value of the other
     */
    RoundTables(char[]... added) {
      this.added = added;
    }

    void replace(long[] places, int from, int count) {
      int capacity = Math.min(BLOCK, count);
      int[] left = new int[capacity];
      int[] right = new int[capacity];
      int[] addends = new int[capacity];
      int end = from + count;
      for (int first = from; first < end; first += BLOCK) {
        int chunk = Math.min(BLOCK, end - first);
        for (int i = 0; i < chunk; i++) {
          long number = places[first + i];
          long quotient = quotient(number);
          left[i] = (int) quotient;
          right[i] = (int) (number - quotient * b);
        }
        for (int round = 0; round < added.length; round += 2) {
          lookUp(added[round], right, addends, chunk);
          add(left, addends, (int) a, chunk);
          lookUp(added[round + 1], left, addends, chunk);
          add(right, addends, (int) b, chunk);
        }
        for (int i = 0; i < chunk; i++) {
          long number = (long) left[i] * b + right[i];
          places[first + i] = number < size ? number : at(number);
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
}
