// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;
import java.util.function.LongPredicate;
import org.ddstore.layout.RowRuns;
import org.ddstore.layout.RowSet;
import org.ddstore.layout.RowSetBuilder;

/**
 * A set of rows of a store, to which a sampler is restricted by {@link BatchSampler#within}: for
 * example the rows for training, and the others for validation. It is kept as runs of consecutive
 * rows or as one bit per row, whichever is smaller: a random mask of 10^9 rows takes 141 MB.
 * Immutable; safe for use by several threads.
 */
public final class RowSubset {
  private final RowSet rows;
  private volatile String words; // null until asked for, because a digest reads all rows

  private RowSubset(RowSetBuilder builder) {
    this.rows = builder.build();
  }

  /**
   * {@return the rows [first, end)}
   *
   * @param first first row, at least 0
   * @param end row after the last, at least {@code first}
   */
  public static RowSubset range(long first, long end) {
    return ranges(first, end);
  }

  /**
   * {@return the rows of several ranges}
   *
   * @param bounds first row and end of each range [first, end), all in ascending order
   * @throws IllegalArgumentException if a range is negative, ends before it begins, or begins
   *     before the end of the range before it
   */
  public static RowSubset ranges(long... bounds) {
    Objects.requireNonNull(bounds, "bounds is null");
    if (bounds.length % 2 != 0) {
      throw new IllegalArgumentException(
          "%d bounds of ranges of rows: give the first row and the end of each range"
              .formatted(bounds.length));
    }
    RowSetBuilder builder = new RowSetBuilder();
    long previous = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      long first = bounds[i];
      long end = bounds[i + 1];
      if (first < previous || end < first) {
        throw new IllegalArgumentException(
            "rows [%,d, %,d): give ranges in ascending order, the first row from %,d and the end from the first row"
                .formatted(first, end, previous));
      }
      builder.add(first, end);
      previous = end;
    }
    return new RowSubset(builder);
  }

  /**
   * {@return the rows whose element is true}
   *
   * @param mask one element per row; not kept
   */
  public static RowSubset mask(boolean... mask) {
    Objects.requireNonNull(mask, "mask is null");
    return matching(mask.length, row -> mask[(int) row]);
  }

  /**
   * {@return the rows in [0, rows) that a condition accepts} Tests each row once, in ascending
   * order.
   *
   * @param rows number of rows, at least 0
   * @param condition condition of a row number
   */
  public static RowSubset matching(long rows, LongPredicate condition) {
    Objects.requireNonNull(condition, "condition is null");
    checkRows(rows);
    RowSetBuilder builder = new RowSetBuilder();
    long first = 0;
    boolean inside = false;
    for (long row = 0; row < rows; row++) {
      if (condition.test(row) != inside) {
        if (inside) {
          builder.add(first, row);
        }
        first = row;
        inside = !inside;
      }
    }
    if (inside) {
      builder.add(first, rows);
    }
    return new RowSubset(builder);
  }

  private static void checkRows(long rows) {
    if (rows < 0) {
      throw new IllegalArgumentException("%,d rows: must be at least 0".formatted(rows));
    }
  }

  /** {@return the number of rows} */
  public long size() {
    return rows.size();
  }

  /** {@return the row after the last one: the least number of rows that a store must have} */
  public long end() {
    return rows.end();
  }

  /**
   * {@return the row at a position in ascending order}
   *
   * @param position in [0, {@link #size()})
   */
  public long row(long position) {
    return rows.row(Objects.checkIndex(position, size()));
  }

  /**
   * {@return whether a row belongs to the subset}
   *
   * @param row any number
   */
  public boolean contains(long row) {
    return row >= 0 && row < rows.end() && rows.nextRow(row) == row;
  }

  /**
   * {@return the rows that belong to both subsets}
   *
   * @param other another subset
   */
  public RowSubset and(RowSubset other) {
    Objects.requireNonNull(other, "other is null");
    RowSetBuilder builder = new RowSetBuilder();
    long first = 0;
    while (true) {
      long own = rows.nextRow(first);
      long shared = own == RowSet.NONE ? own : other.rows.nextRow(own);
      if (shared == RowSet.NONE) {
        return new RowSubset(builder);
      }
      first = shared;
      if (rows.nextRow(shared) == shared) {
        first = Math.min(rows.nextGap(shared), other.rows.nextGap(shared));
        builder.add(shared, first);
      }
    }
  }

  /**
   * {@return the rows of [0, allRows) that do not belong to this subset}
   *
   * @param allRows number of rows of the store
   */
  public RowSubset complement(long allRows) {
    checkRows(allRows);
    RowSetBuilder builder = new RowSetBuilder();
    long first = rows.nextGap(0);
    while (first < allRows) {
      long end = Math.min(rows.nextRow(first), allRows);
      builder.add(first, end);
      first = rows.nextGap(end);
    }
    return new RowSubset(builder);
  }

  /** Returns the subset in which each row is {@code count} consecutive numbers. */
  RowSubset times(int count) {
    RowSetBuilder builder = new RowSetBuilder();
    forEachRun(
        (first, end) ->
            builder.add(Math.multiplyExact(first, count), Math.multiplyExact(end, count)));
    return new RowSubset(builder);
  }

  /** Returns the numbers of the windows of {@code length} rows that lie within the subset. */
  RowSubset windows(int length, int stride) {
    RowSetBuilder builder = new RowSetBuilder();
    forEachRun(
        (first, end) -> {
          long from = (first + stride - 1) / stride;
          long next = end - length < 0 ? 0 : (end - length) / stride + 1;
          builder.add(from, Math.max(from, next));
        });
    return new RowSubset(builder);
  }

  private interface Run {
    void accept(long first, long end);
  }

  private void forEachRun(Run action) {
    long first = rows.nextRow(0);
    while (first != RowSet.NONE) {
      long end = rows.nextGap(first);
      action.accept(first, end);
      first = rows.nextRow(end);
    }
  }

  /** Returns the elements of these rows. */
  double[] select(double... values) {
    double[] selected = new double[checkValues(values.length, "weights")];
    for (int i = 0; i < selected.length; i++) {
      selected[i] = values[(int) rows.row(i)];
    }
    return selected;
  }

  long[] select(long... values) {
    long[] selected = new long[checkValues(values.length, "costs")];
    for (int i = 0; i < selected.length; i++) {
      selected[i] = values[(int) rows.row(i)];
    }
    return selected;
  }

  int[] select(int... values) {
    int[] selected = new int[checkValues(values.length, "labels")];
    for (int i = 0; i < selected.length; i++) {
      selected[i] = values[(int) rows.row(i)];
    }
    return selected;
  }

  /** Returns the number of rows, if each has a value. */
  private int checkValues(int values, String what) {
    if (end() > values) {
      throw new IllegalArgumentException(
          "%,d %s, but the subset has rows up to %,d: give one for each row of the store"
              .formatted(values, what, end() - 1));
    }
    return (int) size();
  }

  /**
   * Rejects a store that has fewer rows than the subset.
   *
   * @param stored number of rows of the store
   */
  void checkWithin(long stored) {
    if (end() > stored) {
      throw new IllegalArgumentException(
          "subset of %s reaches row %,d, the store has the rows [0, %,d): make the subset from this store"
              .formatted(this, end() - 1, stored));
    }
  }

  /** Returns the words for the description of a sampler: equal for equal subsets only. */
  String describe() {
    if (words == null) {
      words =
          isOneRun()
              ? "%d-%d".formatted(end() - size(), end())
              : "%d of %s".formatted(size(), Fingerprint.of(rows.content()));
    }
    return words;
  }

  private boolean isOneRun() {
    return rows instanceof RowRuns runs && runs.runs() <= 1;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowSubset subset && subset.rows.equals(rows);
  }

  @Override
  public int hashCode() {
    return rows.hashCode();
  }

  /** Returns a text such as {@code rows [0, 8,000)} or {@code 7,990 rows in [3, 10,000)}. */
  @Override
  public String toString() {
    long first = size() == 0 ? 0 : rows.row(0);
    return isOneRun()
        ? "rows [%,d, %,d)".formatted(first, end())
        : "%,d rows in [%,d, %,d)".formatted(size(), first, end());
  }
}
