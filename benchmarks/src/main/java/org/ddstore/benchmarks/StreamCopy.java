// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.util.Arrays;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.nativeio.CopyLimit;
import org.ddstore.nativeio.NativeLibrary;

/**
 * A measurement of the rate at which one core copies one long range of memory to another. Each turn
 * copies the next piece, so that no cache holds it. The native loop bypasses the caches.
 */
final class StreamCopy implements AutoCloseable {
  private static final int STRETCH_BYTES = 256 << 20;

  /** Small pieces, so that other processes do not interrupt the median turn. */
  private static final int PIECE_BYTES = 8 << 20;

  private final OffHeapBuffer from = OffHeapBuffer.allocate(STRETCH_BYTES);
  private final OffHeapBuffer to = OffHeapBuffer.allocate(STRETCH_BYTES);
  private final DescriptiveStatistics rates = new DescriptiveStatistics();
  private int at;

  StreamCopy() {
    byte[] something = new byte[1 << 20];
    Arrays.fill(something, (byte) 1);
    for (int i = 0; i < STRETCH_BYTES; i += something.length) {
      from.buffer().put(i, something); // unwritten pages all map to the zero page
      to.buffer().put(i, something);
    }
  }

  void begin() {
    rates.clear();
  }

  /**
   * Copies one piece.
   *
   * @return duration in nanoseconds
   */
  long turn() {
    long nanos = Math.max(1, copy());
    at = (at + PIECE_BYTES) % STRETCH_BYTES;
    rates.addValue((double) PIECE_BYTES / nanos);
    return nanos;
  }

  private long copy() {
    if (NativeLibrary.isLoaded()) {
      return CopyLimit.stretchNanos(from.address() + at, to.address() + at, PIECE_BYTES);
    }
    long start = System.nanoTime();
    to.buffer().put(at, from.buffer(), at, PIECE_BYTES);
    return System.nanoTime() - start;
  }

  /** Returns the rate of the median turn, in 10^9 bytes per second. */
  double gbPerSecond() {
    return rates.getPercentile(50);
  }

  @Override
  public void close() {
    from.close();
    to.close();
  }
}
