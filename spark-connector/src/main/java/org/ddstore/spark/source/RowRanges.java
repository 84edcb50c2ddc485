// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.io.Serializable;
import java.util.Arrays;

/** A set of global row indices as sorted runs that neither overlap nor touch. Immutable. */
final class RowRanges implements Serializable {
  static final RowRanges NONE = new RowRanges();

  private static final long serialVersionUID = 1L;
  private static final int SHOWN = 4;

  /** Begin (inclusive) and end (exclusive) of each run. */
  private final long[] bounds;

  private RowRanges(long... bounds) {
    this.bounds = bounds;
  }

  /** Returns the rows [from, to); none if {@code to <= from}. */
  static RowRanges between(long from, long to) {
    return from < to ? new RowRanges(from, to) : NONE;
  }

  /** Returns the given rows, which can be unsorted and repeated. */
  static RowRanges of(long... rows) {
    long[] sorted = rows.clone();
    Arrays.sort(sorted);
    Builder ranges = new Builder(2 * sorted.length);
    for (long row : sorted) {
      ranges.add(row, row + 1);
    }
    return ranges.build();
  }

  int size() {
    return bounds.length / 2;
  }

  long from(int run) {
    return bounds[2 * run];
  }

  long to(int run) {
    return bounds[2 * run + 1];
  }

  long rows() {
    long rows = 0;
    for (int run = 0; run < size(); run++) {
      rows += to(run) - from(run);
    }
    return rows;
  }

  RowRanges and(RowRanges other) {
    Builder both = new Builder(bounds.length + other.bounds.length);
    int run = 0;
    int otherRun = 0;
    while (run < size() && otherRun < other.size()) {
      both.add(Math.max(from(run), other.from(otherRun)), Math.min(to(run), other.to(otherRun)));
      if (to(run) < other.to(otherRun)) {
        run++;
      } else {
        otherRun++;
      }
    }
    return both.build();
  }

  /** Returns the rows of this set in [from, to), in time and memory for these rows alone. */
  RowRanges within(long from, long to) {
    int first = runsBefore(from, 1); // the others end after "from"
    int end = runsBefore(to, 0); // these begin before "to"
    if (from >= to || first >= end) {
      return NONE;
    }
    long[] own = Arrays.copyOfRange(bounds, 2 * first, 2 * end);
    own[0] = Math.max(own[0], from);
    own[own.length - 1] = Math.min(own[own.length - 1], to);
    return new RowRanges(own);
  }

  /**
   * Returns the number of runs that begin before a row (side 0), or that end at or before it (side
   * 1).
   *
   * @param side 0 for the begin of runs, 1 for their ends
   */
  private int runsBefore(long row, int side) {
    int low = 0;
    int high = size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (bounds[2 * middle + side] < row + side) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  RowRanges or(RowRanges other) {
    Builder either = new Builder(bounds.length + other.bounds.length);
    int run = 0;
    int otherRun = 0;
    while (run < size() || otherRun < other.size()) {
      if (otherRun == other.size() || (run < size() && from(run) <= other.from(otherRun))) {
        either.add(from(run), to(run++));
      } else {
        either.add(other.from(otherRun), other.to(otherRun++));
      }
    }
    return either.build();
  }

  RowRanges except(long rows) {
    Builder others = new Builder(bounds.length + 2);
    long at = 0;
    for (int run = 0; run < size(); run++) {
      others.add(at, Math.min(from(run), rows));
      at = Math.max(at, to(run));
    }
    others.add(at, rows);
    return others.build();
  }

  RowRanges first(long count) {
    Builder first = new Builder(bounds.length);
    long remaining = count;
    for (int run = 0; run < size() && remaining > 0; run++) {
      long take = Math.min(remaining, to(run) - from(run));
      first.add(from(run), from(run) + take);
      remaining -= take;
    }
    return first.build();
  }

  RowRanges skip(long count) {
    Builder rest = new Builder(bounds.length);
    long remaining = count;
    for (int run = 0; run < size(); run++) {
      long skipped = Math.min(remaining, to(run) - from(run));
      rest.add(from(run) + skipped, to(run));
      remaining -= skipped;
    }
    return rest.build();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowRanges that && Arrays.equals(bounds, that.bounds);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bounds);
  }

  /** Returns text such as {@code [0, 10) [20, 21) 11 rows}, truncated after four runs. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int run = 0; run < Math.min(size(), SHOWN); run++) {
      text.append("[%d, %d) ".formatted(from(run), to(run)));
    }
    if (size() > SHOWN) {
      text.append("and %d more ".formatted(size() - SHOWN));
    }
    return text.append("%d rows".formatted(rows())).toString();
  }

  /** A builder that takes runs in order of their begin and merges those that overlap or touch. */
  private static final class Builder {
    private final long[] bounds;
    private int used;

    Builder(int capacity) {
      bounds = new long[capacity];
    }

    void add(long from, long to) {
      if (from >= to) {
        return;
      }
      if (used > 0 && from <= bounds[used - 1]) {
        bounds[used - 1] = Math.max(bounds[used - 1], to);
      } else {
        bounds[used++] = from;
        bounds[used++] = to;
      }
    }

    RowRanges build() {
      return used == 0 ? NONE : new RowRanges(Arrays.copyOf(bounds, used));
    }
  }
}
