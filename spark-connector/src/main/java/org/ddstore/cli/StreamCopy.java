package org.ddstore.cli;

import java.util.Arrays;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.nativeio.CopyLimit;
import org.ddstore.nativeio.NativeLibrary;

/**
 * What one core of this machine can copy from one long stretch of memory to another: a piece at
 * each turn, each time another one, so that no cache has it. Past the caches where C does it.
 */
final class StreamCopy implements AutoCloseable {
  private static final int STRETCH_BYTES = 256 << 20;

  /** Short, so that the median turn was not interrupted by other processes. */
  private static final int PIECE_BYTES = 8 << 20;

  private final OffHeapBuffer from = OffHeapBuffer.allocate(STRETCH_BYTES);
  private final OffHeapBuffer to = OffHeapBuffer.allocate(STRETCH_BYTES);
  private final DescriptiveStatistics rates = new DescriptiveStatistics();
  private int at;

  StreamCopy() {
    byte[] something = new byte[1 << 20];
    Arrays.fill(something, (byte) 1);
    for (int i = 0; i < STRETCH_BYTES; i += something.length) {
      from.buffer().put(i, something); // unwritten pages are all the same one
      to.buffer().put(i, something);
    }
  }

  /** Forgets the turns until now. */
  void begin() {
    rates.clear();
  }

  /**
   * Copies one piece.
   *
   * @return the nanoseconds that it took
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

  /** 10^9 bytes a second, in the median turn. */
  double gbPerSecond() {
    return rates.getPercentile(50);
  }

  @Override
  public void close() {
    from.close();
    to.close();
  }
}
