package org.ddstore.layout;

import java.util.Arrays;

/**
 * The map from global rows to places: an ordered list of extents, each a run of rows that one
 * segment of one rank holds. A load writes one extent per rank, an append adds more at the end;
 * indices never change. Immutable and thread-safe.
 */
public final class ExtentMap {
  /** No rows. */
  public static final ExtentMap EMPTY = new ExtentMap(new long[] {0}, new int[0]);

  /** first[e] is the first row of extent e; first[extents] is the number of rows. */
  private final long[] first;

  private final int[] rank;

  private ExtentMap(long[] first, int[] rank) {
    this.first = first;
    this.rank = rank;
  }

  /** This map with one more extent per element of {@code rows}; element r belongs to rank r. */
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

  /** How many rows there are. */
  public long rows() {
    return first[rank.length];
  }

  /** How many extents there are; some may have no rows. */
  public int extents() {
    return rank.length;
  }

  /** The first global row of an extent. */
  public long firstRow(int extent) {
    return first[extent];
  }

  /** The rows of an extent. */
  public long rows(int extent) {
    return first[extent + 1] - first[extent];
  }

  /** The rank whose memory holds an extent. */
  public int rank(int extent) {
    return rank[extent];
  }

  /**
   * The extent that holds {@code row}. Starts where it would be if all extents were of one size,
   * which balanced shards nearly are.
   *
   * @param row of [0, rows), not checked here
   */
  public int extentOf(long row) {
    int extents = rank.length;
    int guess = (int) ((double) row / first[extents] * extents);
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
   * The first position of rank {@code rank} of {@code ranks} when {@code rows} rows are spread so
   * that shards differ by at most one row: floor(rank * rows / ranks).
   */
  public static long balancedStart(long rows, int rank, int ranks) {
    return rows / ranks * rank + rows % ranks * rank / ranks;
  }

  @Override
  public String toString() {
    return "ExtentMap[%,d rows in %d extents]".formatted(rows(), rank.length);
  }
}
