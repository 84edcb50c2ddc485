// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import org.ddstore.spark.types.OutsideStatistics;

/**
 * The reads that this process has served to the readers of one grant. C adds to the same memory as
 * Java. Thread-safe.
 *
 * <pre>
 * int64 requests | int64 rows | int64 bytes, in native order
 * </pre>
 */
public final class ServedReads {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final int REQUESTS_AT = 0;
  private static final int ROWS_AT = Long.BYTES;
  private static final int BYTES_AT = 2 * Long.BYTES;

  private final ByteBuffer counts = ByteBuffer.allocateDirect(3 * Long.BYTES);
  private final AtomicInteger channels = new AtomicInteger();

  ServedReads() {}

  /** Returns the memory of the counters; it stays valid while this object is reachable. */
  public ByteBuffer counts() {
    return counts;
  }

  /** Counts a request. */
  public void add(long rows, long bytes) {
    LONG.getAndAdd(counts, REQUESTS_AT, 1L);
    LONG.getAndAdd(counts, ROWS_AT, rows);
    LONG.getAndAdd(counts, BYTES_AT, bytes);
  }

  public void opened() {
    channels.incrementAndGet();
  }

  public void closed() {
    channels.decrementAndGet();
  }

  OutsideStatistics statistics(String label) {
    return new OutsideStatistics(
        label,
        channels.get(),
        (long) LONG.getVolatile(counts, REQUESTS_AT),
        (long) LONG.getVolatile(counts, ROWS_AT),
        (long) LONG.getVolatile(counts, BYTES_AT));
  }
}
