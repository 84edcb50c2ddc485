// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.types.DType;

/**
 * A measurement in which one thread repeatedly reads one row, which stays in the caches, into the
 * same memory. It alternates with the {@link CopyLoop}, which copies the same row.
 */
final class HotRow {
  private static final int CALLS = 1000;
  private static final double WARM_UP = 0.4;

  private final Variable rows;
  private final PatternRows pattern;
  private final long index;
  private final CopyLoop loop;
  private final ReadTimes times = new ReadTimes(1);
  private long mismatches;

  HotRow(Variable rows, PatternRows pattern, long index, CopyLoop loop) {
    this.rows = rows;
    this.pattern = pattern;
    this.index = index;
    this.loop = loop;
  }

  void run(double seconds) {
    try (Reader reader = rows.reader();
        OffHeapBuffer memory = OffHeapBuffer.allocate(pattern.rowBytes())) {
      ByteBuffer bytes = memory.buffer().order(ByteOrder.LITTLE_ENDIAN);
      Tensor row = Tensor.wrap(DType.UINT8, bytes, 1, pattern.rowBytes());
      long start = System.nanoTime();
      long end = start + (long) ((1 + WARM_UP) * seconds * TimeUnit.SECONDS.toNanos(1));
      long warm = start + (long) (WARM_UP * seconds * TimeUnit.SECONDS.toNanos(1));
      boolean isCounted = false;
      for (long now = start; now < end || !isCounted; now = System.nanoTime()) {
        double roundMicros = round(reader, row);
        mismatches += pattern.matches(index, bytes, 0) ? 0 : 1;
        loop.round(now >= warm);
        if (now >= warm) {
          times.add(roundMicros);
          isCounted = true;
        }
      }
    }
  }

  /** Returns the wall time per row of one round, in microseconds. */
  private double round(Reader reader, Tensor row) {
    long start = System.nanoTime();
    for (int i = 0; i < CALLS; i++) {
      reader.get(row, index);
    }
    return (System.nanoTime() - start) / 1e3 / CALLS;
  }

  ReadTimes times() {
    return times;
  }

  long mismatches() {
    return mismatches;
  }
}
