// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

import java.util.Arrays;

/**
 * The map from global rows to ranks: an ordered list of extents, each a run of rows in one segment
 * of one rank. A load creates one extent per rank, an append adds more at the end; indices never
 * change. Immutable and thread-safe.
 */
public final class ExtentMap {
  public static final ExtentMap EMPTY = new ExtentMap(new long[] {0}, new int[0], 0);

  /** first[e] is the first row of extent e; first[extents] is the number of rows. */
  private final long[] first;

  private final int[] rank;
  private final double extentsPerRow;

  /** Number of extents of each append; -1 if they differ. */
  private final int appended;

  private ExtentMap(long[] first, int[] rank, int appended) {
    this.first = first;
    this.rank = rank;
    this.appended = appended;
    this.extentsPerRow = (double) rank.length / first[rank.length];
  }

  /** Returns this map with one more extent per element of {@code rows}; element r is for rank r. */
  public ExtentMap append(long... rows) {
    int extents = rank.length;
    long[] newFirst = Arrays.copyOf(first, first.length + rows.length);
    int[] newRank = Arrays.copyOf(rank, extents + rows.length);
    for (int r = 0; r < rows.length; r++) {
      if (rows[r] < 0) {
        throw new IllegalArgumentException("rank " + r + " has " + rows[r] + " rows");
      }
      newFirst[extents + r + 1] = Math.addExact(newFirst[extents + r], rows[r]);
      newRank[extents + r] = r;
    }
    boolean isRegular = extents == 0 || appended == rows.length;
    return new ExtentMap(newFirst, newRank, isRegular ? rows.length : -1);
  }

  public long rows() {
    return first[rank.length];
  }

  /** Returns the number of extents; some may have no rows. */
  public int extents() {
    return rank.length;
  }

  public long firstRow(int extent) {
    return first[extent];
  }

  public long rows(int extent) {
    return first[extent + 1] - first[extent];
  }

  public long rowsOf(int owner) {
    int step = Math.max(1, appended); // all appends are of the same ranks, or each extent is tried
    long rows = 0;
    for (int e = step == 1 ? 0 : Math.max(0, owner); e < rank.length; e += step) {
      rows += rank[e] == owner ? rows(e) : 0;
    }
    return rows;
  }

  public int rank(int extent) {
    return rank[extent];
  }

  /** Returns the extent of a row, not checked; guesses first, as shards are nearly equal. */
  public int extentOf(long row) {
    int extents = rank.length;
    int guess = (int) (row * extentsPerRow);
    if (guess < extents && row >= first[guess] && row < first[guess + 1]) {
      return guess;
    }
    return lastAtMost(first, row);
  }

  /** Returns the last element but the end that is at most a value, or 0; elements ascend. */
  public static int lastAtMost(long[] ascending, long value) {
    int low = 0;
    int high = ascending.length - 2;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (ascending[middle] <= value) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /**
   * Returns the first row of {@code rank} if {@code rows} rows are divided into {@code ranks}
   * shards that differ by at most one row: floor(rank * rows / ranks).
   */
  public static long balancedStart(long rows, int rank, int ranks) {
    return rows / ranks * rank + rows % ranks * rank / ranks;
  }

  @Override
  public String toString() {
    return "ExtentMap[%,d rows in %d extents]".formatted(rows(), rank.length);
  }
}
