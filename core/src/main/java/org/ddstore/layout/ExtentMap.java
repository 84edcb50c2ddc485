// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

import java.util.Arrays;

/**
 * The map from global rows to ranks: an ordered list of extents, each a run of rows in one segment
 * of one rank. A load creates one extent per rank, an append adds more at the end; indices never
 * change. Immutable and thread-safe.
 */
public final class ExtentMap {
  /** The map without rows. */
  public static final ExtentMap EMPTY = new ExtentMap(new long[] {0}, new int[0]);

  /** first[e] is the first row of extent e; first[extents] is the number of rows. */
  private final long[] first;

  private final int[] rank;
  private final double extentsPerRow;

  private ExtentMap(long[] first, int[] rank) {
    this.first = first;
    this.rank = rank;
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
    return new ExtentMap(newFirst, newRank);
  }

  /** Returns the number of rows. */
  public long rows() {
    return first[rank.length];
  }

  /** Returns the number of extents; some may have no rows. */
  public int extents() {
    return rank.length;
  }

  /** Returns the first global row of an extent. */
  public long firstRow(int extent) {
    return first[extent];
  }

  /** Returns the number of rows of an extent. */
  public long rows(int extent) {
    return first[extent + 1] - first[extent];
  }

  /** Returns the number of rows of all extents that a rank holds. */
  public long rowsOf(int owner) {
    long rows = 0;
    for (int e = 0; e < rank.length; e++) {
      rows += rank[e] == owner ? rows(e) : 0;
    }
    return rows;
  }

  /** Returns the rank whose memory holds an extent. */
  public int rank(int extent) {
    return rank[extent];
  }

  /**
   * Returns the extent that holds {@code row}. Starts with the guess for extents of equal size,
   * because balanced shards are nearly equal.
   *
   * @param row global row in [0, rows); not checked
   */
  public int extentOf(long row) {
    int extents = rank.length;
    int guess = (int) (row * extentsPerRow);
    if (guess < extents && row >= first[guess] && row < first[guess + 1]) {
      return guess;
    }
    int low = 0;
    int high = extents - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (first[middle] <= row) {
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
