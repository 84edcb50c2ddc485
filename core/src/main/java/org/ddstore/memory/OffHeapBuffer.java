// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** A zeroed direct buffer that is freed on close; {@code MaxDirectMemorySize} does not count. */
public final class OffHeapBuffer implements AutoCloseable {
  /** Alignment of the start of every buffer in bytes. */
  public static final int ALIGNMENT_BYTES = 256;

  private static final AtomicLong LIVE_BYTES = new AtomicLong();

  private final OffHeap.Memory memory;
  private final long address;
  private final Runnable beforeFree;
  private final AtomicBoolean closed = new AtomicBoolean();

  private OffHeapBuffer(OffHeap.Memory memory, Runnable beforeFree) {
    this.memory = memory;
    this.address = RawAddress.of(memory.buffer());
    this.beforeFree = beforeFree;
    memory.buffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Allocates {@code bytes}, in [0, 2^31 - 1 - 256], set to zero.
   *
   * @throws OutOfMemoryError if the operating system has no memory left
   */
  public static OffHeapBuffer allocate(long bytes) {
    return allocate(bytes, ALIGNMENT_BYTES, memory -> () -> {});
  }

  /** Allocates an aligned buffer; {@code prepare} returns an action to run before it is freed. */
  static OffHeapBuffer allocate(
      long bytes, int alignmentBytes, Function<ByteBuffer, Runnable> prepare) {
    if (bytes < 0 || bytes > Integer.MAX_VALUE - ALIGNMENT_BYTES) {
      throw new IllegalArgumentException(
          "%,d bytes outside [0, %,d]".formatted(bytes, Integer.MAX_VALUE - ALIGNMENT_BYTES));
    }
    return of(OffHeap.INSTANCE.allocate((int) bytes, alignmentBytes), prepare);
  }

  /** Creates a buffer that owns the memory; frees the memory at once if the preparation fails. */
  static OffHeapBuffer of(OffHeap.Memory memory, Function<ByteBuffer, Runnable> prepare) {
    try {
      OffHeapBuffer allocated = new OffHeapBuffer(memory, prepare.apply(memory.buffer()));
      LIVE_BYTES.addAndGet(memory.buffer().capacity());
      return allocated;
    } catch (RuntimeException | Error e) {
      memory.free().run();
      throw e;
    }
  }

  /** Returns the number of bytes in open buffers of this JVM. */
  public static long liveBytes() {
    return LIVE_BYTES.get();
  }

  /** Returns the little-endian buffer; position 0, limit and capacity are the allocated bytes. */
  public ByteBuffer buffer() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return memory.buffer();
  }

  /** Returns the address of the memory for native code; valid until the buffer is closed. */
  public long address() {
    return address;
  }

  /** Frees the memory; the buffer must not be accessed afterwards. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      LIVE_BYTES.addAndGet(-memory.buffer().capacity());
      try {
        beforeFree.run();
      } finally {
        memory.free().run();
      }
    }
  }

  @Override
  public String toString() {
    return "OffHeapBuffer[%,d bytes]".formatted(memory.buffer().capacity());
  }
}
