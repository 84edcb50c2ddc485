// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.util.Arrays;

/**
 * A radix sort of the keys of one batch by their upper bits. It is faster than a sort by
 * comparison, because keys differ in few bits. Reused for many batches. Used by one thread.
 */
final class KeySort {
  private static final int DIGIT_BITS = 8;
  private static final int DIGITS = 1 << DIGIT_BITS;

  /**
   * Fewest keys for which this sort is faster than a sort by comparison. Measured (AMD EPYC under
   * KVM, 2026-11-26, keys that differ in 17 to 24 bits): 32 keys take 0.6 us and 0.5 us by
   * comparison, 48 take 0.7 and 0.9 us, 128 take 1.5 and 3.2 us.
   */
  private static final int FEWEST_KEYS = 48;

  private long[] spare = {};
  private final int[] ends = new int[DIGITS];

  /** Sorts keys whose {@code lowerBits} already ascend among equal upper bits. */
  void sort(long[] keys, int count, int lowerBits) {
    if (count < FEWEST_KEYS) {
      Arrays.sort(keys, 0, count);
      return;
    }
    if (spare.length < count) {
      spare = new long[Math.max(count, spare.length + (spare.length >> 1))];
    }
    long differing = 0;
    for (int k = 1; k < count; k++) {
      differing |= keys[k] ^ keys[0];
    }
    long[] from = keys;
    long[] to = spare;
    for (int shift = lowerBits; shift < Long.SIZE; shift += DIGIT_BITS) {
      if ((differing >>> shift & DIGITS - 1) != 0) {
        distribute(from, count, shift, to);
        long[] sorted = to;
        to = from;
        from = sorted;
      }
    }
    if (from != keys) {
      System.arraycopy(from, 0, keys, 0, count);
    }
  }

  private void distribute(long[] from, int count, int shift, long[] to) {
    Arrays.fill(ends, 0);
    for (int k = 0; k < count; k++) {
      ends[(int) (from[k] >>> shift) & DIGITS - 1]++;
    }
    int start = 0;
    for (int digit = 0; digit < DIGITS; digit++) {
      int keysOfDigit = ends[digit];
      ends[digit] = start;
      start += keysOfDigit;
    }
    for (int k = 0; k < count; k++) {
      to[ends[(int) (from[k] >>> shift) & DIGITS - 1]++] = from[k];
    }
  }
}
