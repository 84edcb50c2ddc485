// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.ddstore.read.ReadPlan;
import org.ddstore.types.ReadPath;

/**
 * The counters of one reader, written by its thread only and readable by any thread. Every batch is
 * counted. The first {@value #TIMED_EVERY} batches are timed, then one in {@value #TIMED_EVERY},
 * which stands for the next ones, because two calls of the clock cost more than all counters.
 */
final class ReadCounters {
  private static final int TIMED_EVERY = 64; // a power of two
  private static final int PATHS = ReadPath.values().length;
  private static final int CALLS = 0;
  private static final int ROWS = 1;
  private static final int BYTES = 2;
  private static final int NANOS = 3;
  private static final int BEST_NANOS = 4;
  private static final int COUNTERS = 5;

  /** The counters of each path, then the buckets of the latency. */
  private final AtomicLongArray counts =
      new AtomicLongArray(PATHS * COUNTERS + LatencyHistogram.BUCKETS);

  private final long[] rowsByPath = new long[PATHS];
  private final double[] lastNanosPerRow = new double[PATHS];
  private long batches;
  private boolean isTimed;
  private boolean isSampled;

  /** Begins a batch, without rows, and returns its start time if it is timed. */
  long begin() {
    Arrays.fill(rowsByPath, 0);
    isSampled = (batches & (TIMED_EVERY - 1)) == 0;
    isTimed = isSampled || batches < TIMED_EVERY;
    batches++;
    return isTimed ? System.nanoTime() : 0;
  }

  void add(ReadPlan plan) {
    for (int path = 0; path < PATHS; path++) {
      rowsByPath[path] += plan.rowsBy(path);
    }
  }

  void add(int path, long rows) {
    rowsByPath[path] += rows;
  }

  /** Counts the current batch; divides its time and bytes by the rows of each path. */
  void end(long start, long rows, long bytes) {
    if (isTimed) {
      time(System.nanoTime() - start, rows);
    }
    for (int path = 0; path < PATHS; path++) {
      long some = rowsByPath[path];
      if (some > 0) {
        long part = some == rows ? bytes : Math.round((double) bytes * some / rows);
        long nanos = (long) (lastNanosPerRow[path] * some);
        count(path, some, part, nanos, isTimed ? nanos : 0);
      }
    }
  }

  private void time(long nanos, long rows) {
    for (int path = 0; path < PATHS; path++) {
      if (rowsByPath[path] > 0) {
        lastNanosPerRow[path] = (double) nanos / rows;
      }
    }
    if (isSampled) {
      add(PATHS * COUNTERS, LatencyHistogram.bucket(nanos), 1);
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

  LatencyHistogram latency() {
    return new LatencyHistogram(
        IntStream.range(PATHS * COUNTERS, counts.length()).mapToObj(counts::getOpaque).toList());
  }
}
