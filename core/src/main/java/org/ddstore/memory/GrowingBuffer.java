// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;

/** Off-heap memory that grows on demand; its content is lost when it grows. */
public final class GrowingBuffer implements AutoCloseable {
  public static final int MAX_BYTES = Integer.MAX_VALUE - OffHeapBuffer.ALIGNMENT_BYTES;

  private static final int STEP_BYTES = 4096;
  private static final HostMemory PLAIN = HostMemory.plain("not copied to a device");

  private final HostMemory source;
  private OffHeapBuffer memory = OffHeapBuffer.allocate(0);

  public GrowingBuffer() {
    this(PLAIN);
  }

  /** Creates a buffer in memory of a source; {@link #close()} frees it. */
  public GrowingBuffer(HostMemory source) {
    this.source = source;
  }

  /** Returns memory of at least {@code bytes}, in [0, {@link #MAX_BYTES}]. */
  public ByteBuffer ensure(long bytes) {
    if (memory.buffer().capacity() < bytes) {
      memory.close();
      memory = OffHeapBuffer.allocate(0);
      memory = source.allocate(capacityFor(bytes));
    }
    return memory.buffer();
  }

  /** Returns the capacity of a new buffer for a requested size, with room to grow, in bytes. */
  public static long capacityFor(long bytes) {
    return Math.min((bytes + (bytes >> 3) + STEP_BYTES) / STEP_BYTES * STEP_BYTES, MAX_BYTES);
  }

  /** Returns the largest multiple of 4,096 bytes whose {@link #capacityFor} fits the capacity. */
  public static long bytesWithin(long capacityBytes) {
    return (capacityBytes - STEP_BYTES) / 9 * 8 / STEP_BYTES * STEP_BYTES;
  }

  public ByteBuffer buffer() {
    return memory.buffer();
  }

  /** Returns the address of {@link #buffer()} for native code; valid until the buffer grows. */
  public long address() {
    return memory.address();
  }

  /** Detaches the memory, to which a transfer may still write; the caller owns it. */
  public OffHeapBuffer abandon() {
    OffHeapBuffer abandoned = memory;
    memory = OffHeapBuffer.allocate(0);
    return abandoned;
  }

  @Override
  public void close() {
    memory.close();
  }
}
