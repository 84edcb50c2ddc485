package org.ddstore.cli;

import java.util.Arrays;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.nativeio.CopyLimit;
import org.ddstore.nativeio.NativeLibrary;

/** What one core of this machine can copy from one long stretch of memory to another. */
final class StreamCopy {
  private static final int BYTES = 256 << 20;
  private static final int ROUNDS = 7;

  private StreamCopy() {}

  /** 10^9 bytes a second, the median of some rounds; past the caches where C does it. */
  static double gbPerSecond() {
    try (OffHeapBuffer from = OffHeapBuffer.allocate(BYTES);
        OffHeapBuffer to = OffHeapBuffer.allocate(BYTES)) {
      byte[] something = new byte[1 << 20];
      Arrays.fill(something, (byte) 1);
      for (int at = 0; at < BYTES; at += something.length) { // unwritten pages are all the same one
        from.buffer().put(at, something);
      }
      double[] rates = new double[ROUNDS];
      for (int round = 0; round < ROUNDS; round++) {
        rates[round] = (double) BYTES / nanos(from, to);
      }
      Arrays.sort(rates);
      return rates[ROUNDS / 2];
    }
  }

  private static long nanos(OffHeapBuffer from, OffHeapBuffer to) {
    if (NativeLibrary.isLoaded()) {
      return CopyLimit.stretchNanos(from.address(), to.address(), BYTES);
    }
    long start = System.nanoTime();
    to.buffer().put(0, from.buffer(), 0, BYTES);
    return System.nanoTime() - start;
  }
}
