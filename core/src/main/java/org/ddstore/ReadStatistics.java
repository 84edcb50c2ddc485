package org.ddstore;

import java.util.concurrent.TimeUnit;

/**
 * What was read over one path since the store was opened.
 *
 * @param path the path
 * @param calls reads in which at least one row came over this path
 * @param rows rows that came over it
 * @param bytes bytes given to the caller; only the chosen fields count
 * @param nanos time in these calls; a call that used several paths is split by rows. Of reads of
 *     one small row from memory one in sixteen is timed, for all
 */
public record ReadStatistics(ReadPath path, long calls, long rows, long bytes, long nanos) {
  ReadStatistics plus(ReadStatistics other) {
    return new ReadStatistics(
        path, calls + other.calls, rows + other.rows, bytes + other.bytes, nanos + other.nanos);
  }

  /** Mean time of a row in microseconds; 0 without rows. */
  public double microsPerRow() {
    return rows == 0 ? 0 : (double) nanos / TimeUnit.MICROSECONDS.toNanos(1) / rows;
  }
}
