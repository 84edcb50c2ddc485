// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.ddstore.read.ReadPlan;
import org.ddstore.types.ReadPath;

/** The counters of one reader, written by its thread only and readable by any thread. */
final class ReadCounters {
  private static final int PATHS = ReadPath.values().length;
  private static final int CALLS = 0;
  private static final int ROWS = 1;
  private static final int BYTES = 2;
  private static final int NANOS = 3;
  private static final int BEST_NANOS = 4;
  private static final int COUNTERS = 5;

  private final AtomicLongArray counts = new AtomicLongArray(PATHS * COUNTERS);
  private final long[] rowsByPath = new long[PATHS];

  /** Begins a read, without rows, and returns its start time in nanoseconds. */
  long begin() {
    Arrays.fill(rowsByPath, 0);
    return System.nanoTime();
  }

  void add(ReadPlan plan) {
    for (int path = 0; path < PATHS; path++) {
      rowsByPath[path] += plan.rowsBy(path);
    }
  }

  void add(int path, long rows) {
    rowsByPath[path] += rows;
  }

  /** Counts the current read; divides its time and bytes by the rows of each path. */
  void end(long start, long rows, long bytes) {
    long nanos = System.nanoTime() - start;
    for (int path = 0; path < PATHS; path++) {
      if (rowsByPath[path] > 0) {
        double share = (double) rowsByPath[path] / rows;
        long part = Math.round(nanos * share);
        count(path, rowsByPath[path], Math.round(bytes * share), part, part);
      }
    }
  }

  /**
   * Counts one call that read rows over one path.
   *
   * @param bestNanos duration of this call in nanoseconds; 0 if it was not timed
   */
  void count(int path, long rows, long bytes, long nanos, long bestNanos) {
    int base = path * COUNTERS;
    add(base, CALLS, 1);
    add(base, ROWS, rows);
    add(base, BYTES, bytes);
    add(base, NANOS, nanos);
    long best = counts.getPlain(base + BEST_NANOS);
    if (bestNanos > 0 && (best == 0 || bestNanos < best)) {
      counts.setOpaque(base + BEST_NANOS, bestNanos);
    }
  }

  private void add(int base, int counter, long amount) {
    counts.setOpaque(base + counter, counts.getPlain(base + counter) + amount);
  }

  ReadStatistics statistics(ReadPath path) {
    int base = path.index() * COUNTERS;
    return new ReadStatistics(
        path,
        counts.getOpaque(base + CALLS),
        counts.getOpaque(base + ROWS),
        counts.getOpaque(base + BYTES),
        counts.getOpaque(base + NANOS),
        counts.getOpaque(base + BEST_NANOS));
  }
}
