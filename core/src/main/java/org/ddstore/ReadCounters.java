package org.ddstore;

import java.util.concurrent.atomic.AtomicLongArray;

/** The counters of one reader: written by its thread alone, read by any. */
final class ReadCounters {
  private static final int PATHS = ReadPath.values().length;
  private static final int CALLS = 0;
  private static final int ROWS = 1;
  private static final int BYTES = 2;
  private static final int NANOS = 3;
  private static final int COUNTERS = 4;

  private final AtomicLongArray counts = new AtomicLongArray(PATHS * COUNTERS);

  /** Counts one call of rows over one path. */
  void count(int path, long rows, long bytes, long nanos) {
    int base = path * COUNTERS;
    add(base + CALLS, 1);
    add(base + ROWS, rows);
    add(base + BYTES, bytes);
    add(base + NANOS, nanos);
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
        counts.getOpaque(base + NANOS));
  }
}
