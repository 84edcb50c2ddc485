// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.util.List;
import org.ddstore.formats.SampleColumn;

/** The number of rows that are read together, so that a chunk is decoded once. */
final class RunLength {
  /** Above this size of the values of a run, its chunks are decoded several times. */
  private static final long MAX_RUN_BYTES = 128 << 20;

  /** Largest size of a run of several chunks. */
  private static final long MAX_JOINED_BYTES = 32 << 20;

  private RunLength() {}

  private static long rowBytes(List<SampleColumn> columns) {
    return Math.max(1, columns.stream().mapToLong(SampleColumn::estimatedBytes).sum());
  }

  /**
   * Returns the length of runs of the first axis: a common multiple of the lengths of the chunks if
   * that is small, else the largest of them.
   */
  static int ofRows(List<SampleColumn> columns, long rows, int... chunkRows) {
    long bytes = rowBytes(columns);
    long common = 1;
    long largest = 1;
    for (int length : chunkRows) {
      long own = Math.min(length, Math.max(1, rows));
      largest = Math.max(largest, own);
      long multiple = common / gcd(common, own) * own; // below 2^62: each is below 2^31
      common = multiple <= MAX_JOINED_BYTES / bytes ? multiple : Integer.MAX_VALUE;
    }
    long run = common <= MAX_JOINED_BYTES / bytes ? common : largest;
    long maxRows = Math.max(1, MAX_RUN_BYTES / bytes);
    long parts = (run + maxRows - 1) / maxRows;
    return (int) ((run + parts - 1) / parts);
  }

  /** Returns the length of runs of boxes. */
  static int ofBoxes(List<SampleColumn> columns, BoxPlan boxes) {
    return (int) boxes.run(Math.max(1, MAX_JOINED_BYTES / rowBytes(columns)));
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }
}
