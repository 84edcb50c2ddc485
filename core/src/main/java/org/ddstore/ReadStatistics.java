package org.ddstore;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.ddstore.types.ReadPath;

/**
 * What was read over one path since the store was opened.
 *
 * @param path the path
 * @param calls reads in which at least one row came over this path
 * @param rows rows that came over it
 * @param bytes bytes given to the caller; only the chosen fields count
 * @param nanos time in these calls; a call that used several paths is split by rows. Of reads of
 *     one small row from memory one in sixteen is timed, for all
 * @param bestNanos the shortest time of one call, of its part over this path; 0 if none was timed
 */
public record ReadStatistics(
    ReadPath path, long calls, long rows, long bytes, long nanos, long bestNanos) {
  /** Refuses a missing path. */
  public ReadStatistics {
    Objects.requireNonNull(path, "path is null");
  }

  /** Of calls of which the best time is not known. */
  public ReadStatistics(ReadPath path, long calls, long rows, long bytes, long nanos) {
    this(path, calls, rows, bytes, nanos, 0);
  }

  /** Of no calls. */
  public static ReadStatistics none(ReadPath path) {
    return new ReadStatistics(path, 0, 0, 0, 0);
  }

  /**
   * Both together.
   *
   * @param other of the same path
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
   * What was read since then.
   *
   * @param before the same counts at an earlier time
   * @return with the best time of both
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

  /** Mean time of a row in microseconds; 0 without rows. */
  public double microsPerRow() {
    return rows == 0 ? 0 : (double) nanos / TimeUnit.MICROSECONDS.toNanos(1) / rows;
  }
}
