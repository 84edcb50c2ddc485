package org.ddstore;

import java.util.concurrent.atomic.AtomicLongArray;
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

  /**
   * Counts one call that read rows over one path.
   *
   * @param bestNanos duration of this call in nanoseconds; 0 if it was not timed
   */
  void count(int path, long rows, long bytes, long nanos, long bestNanos) {
    int base = path * COUNTERS;
    add(base + CALLS, 1);
    add(base + ROWS, rows);
    add(base + BYTES, bytes);
    add(base + NANOS, nanos);
    long best = counts.getPlain(base + BEST_NANOS);
    if (bestNanos > 0 && (best == 0 || bestNanos < best)) {
      counts.setOpaque(base + BEST_NANOS, bestNanos);
    }
  }

  private void add(int index, long amount) {
    counts.setOpaque(index, counts.getPlain(index) + amount);
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
