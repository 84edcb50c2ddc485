// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.ddstore.types.ReadPath;

/**
 * Counts of the reads over one path since the store was opened.
 *
 * @param path the path
 * @param calls number of reads with at least one row over this path
 * @param rows number of rows read over this path
 * @param bytes bytes returned to the caller; only the selected fields count
 * @param nanos time of these calls in nanoseconds; the time of a call over several paths is divided
 *     in proportion to the rows. Of the batches of a reader the first 64 are timed, then one in 64,
 *     whose time per row stands for the next ones. Of the reads of one small row from memory, one
 *     in 16 is timed and stands for all
 * @param bestNanos shortest time of a timed call in nanoseconds, its share of this path only; 0 if
 *     no call was timed
 */
public record ReadStatistics(
    ReadPath path, long calls, long rows, long bytes, long nanos, long bestNanos) {
  /**
   * Rejects a null path.
   *
   * @param path the path
   * @param calls number of reads with at least one row over this path
   * @param rows number of rows read over this path
   * @param bytes bytes returned to the caller; only the selected fields count
   * @param nanos time of these calls in nanoseconds
   * @param bestNanos shortest time of a timed call in nanoseconds, its share of this path only; 0
   *     if no call was timed
   */
  public ReadStatistics {
    Objects.requireNonNull(path, "path is null");
  }

  /**
   * Creates statistics without a best time.
   *
   * @param path way by which the rows were read
   * @param calls number of calls
   * @param rows number of rows
   * @param bytes number of bytes
   * @param nanos total time in nanoseconds
   */
  public ReadStatistics(ReadPath path, long calls, long rows, long bytes, long nanos) {
    this(path, calls, rows, bytes, nanos, 0);
  }

  /**
   * {@return the statistics of a path without calls}
   *
   * @param path way by which the rows were read
   */
  public static ReadStatistics none(ReadPath path) {
    return new ReadStatistics(path, 0, 0, 0, 0);
  }

  /**
   * {@return the sum of both statistics}
   *
   * @param other statistics of the same path
   */
  public ReadStatistics plus(ReadStatistics other) {
    Objects.requireNonNull(other, "other is null");
    return new ReadStatistics(
        path,
        calls + other.calls,
        rows + other.rows,
        bytes + other.bytes,
        nanos + other.nanos,
        best(bestNanos, other.bestNanos));
  }

  /**
   * Returns the difference to an earlier snapshot.
   *
   * @param before earlier snapshot of the same counts
   * @return the difference, with the best time of this snapshot
   */
  public ReadStatistics since(ReadStatistics before) {
    Objects.requireNonNull(before, "before is null");
    return new ReadStatistics(
        path,
        calls - before.calls,
        rows - before.rows,
        bytes - before.bytes,
        nanos - before.nanos,
        bestNanos);
  }

  private static long best(long one, long other) {
    return one == 0 || other == 0 ? Math.max(one, other) : Math.min(one, other);
  }

  /** {@return the mean time per row in microseconds; 0 without rows} */
  public double microsPerRow() {
    return rows == 0 ? 0 : (double) nanos / TimeUnit.MICROSECONDS.toNanos(1) / rows;
  }
}
