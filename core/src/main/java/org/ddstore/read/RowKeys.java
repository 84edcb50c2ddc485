// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.util.Arrays;

/**
 * Rows of one batch with their positions in it, to be sorted by row. A key holds a global index in
 * its upper bits and a position in its lower bits. Reused for all batches. Used by one thread.
 */
final class RowKeys {
  private static final int FIRST_ROWS = 64;

  private final KeySort sort = new KeySort();
  private long[] keys = new long[FIRST_ROWS];
  private int count;
  private int bits; // of a position
  private boolean ascending;

  /**
   * Forgets all rows.
   *
   * @param rows number of rows of the batch, greater than all positions
   */
  void begin(int rows) {
    count = 0;
    ascending = true;
    bits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(1, rows - 1));
  }

  void add(long row, int position) {
    if (count == keys.length) {
      keys = Arrays.copyOf(keys, 2 * count);
    }
    long key = row << bits | position;
    ascending &= count == 0 || keys[count - 1] < key;
    keys[count++] = key;
  }

  /** Sorts the rows, if they were not added in ascending order. */
  void sort() {
    if (!ascending) {
      sort.sort(keys, count, bits);
    }
  }

  /** Returns the number of rows, repeated ones included. */
  int count() {
    return count;
  }

  long row(int k) {
    return keys[k] >>> bits;
  }

  int position(int k) {
    return (int) (keys[k] & (1L << bits) - 1);
  }

  /** Returns the first element from {@code k} on whose row is at least {@code end}, once sorted. */
  int firstFrom(int k, long end) {
    int first = k;
    while (first < count && row(first) < end) {
      first++;
    }
    return first;
  }
}
