package org.ddstore.cli;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.ddstore.memory.OffHeapBuffer;

/** The yardstick of {@link ReadBench}: one thread copies random rows of its own memory. */
final class CopyLoop implements AutoCloseable {
  private static final long MAX_BYTES = 1L << 30;
  private static final long MAX_TARGET_BYTES = 16L << 20;
  private static final int MAX_TARGET_ROWS = 1024;

  private final OffHeapBuffer source;
  private final OffHeapBuffer target;
  private final int rowBytes;
  private final int rows;
  private final int[] order;

  CopyLoop(long sourceBytes, int rowBytes) {
    this.rowBytes = rowBytes;
    this.rows = (int) Math.max(1, Math.min(sourceBytes, MAX_BYTES) / rowBytes);
    this.source = OffHeapBuffer.allocate((long) rows * rowBytes);
    int targetRows = (int) Math.max(1, Math.min(MAX_TARGET_ROWS, MAX_TARGET_BYTES / rowBytes));
    this.target = OffHeapBuffer.allocate((long) targetRows * rowBytes);
    this.order = new int[targetRows];
    byte[] something = new byte[rowBytes];
    for (int row = 0; row < rows; row++) { // pages that were never written are all the same one
      something[row % rowBytes]++;
      source.buffer().put(row * rowBytes, something);
    }
  }

  /** Wall time of a row. */
  double microsPerRow(double seconds) {
    SplittableRandom random = new SplittableRandom(1);
    ByteBuffer from = source.buffer();
    ByteBuffer to = target.buffer();
    long nanos = 0;
    long copied = 0;
    while (nanos < seconds * TimeUnit.SECONDS.toNanos(1)) {
      for (int i = 0; i < order.length; i++) {
        order[i] = random.nextInt(rows);
      }
      long start = System.nanoTime();
      for (int i = 0; i < order.length; i++) {
        to.put(i * rowBytes, from, order[i] * rowBytes, rowBytes);
      }
      nanos += System.nanoTime() - start;
      copied += order.length;
    }
    return nanos / 1e3 / copied;
  }

  @Override
  public void close() {
    source.close();
    target.close();
  }
}
