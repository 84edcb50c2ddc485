package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * A direct buffer outside the heap that is freed when closed and does not count against {@code
 * -XX:MaxDirectMemorySize}. The content is zero at first.
 */
public final class OffHeapBuffer implements AutoCloseable {
  /** Every buffer begins at a multiple of this many bytes. */
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
   * Allocates {@code bytes} of [0, 2^31 - 1 - 256], zeroed.
   *
   * @throws OutOfMemoryError if the operating system has none to give
   */
  public static OffHeapBuffer allocate(long bytes) {
    return allocate(bytes, ALIGNMENT_BYTES, memory -> () -> {});
  }

  /**
   * As above.
   *
   * @param prepare is given the memory, and returns what is to be run before it is freed
   */
  static OffHeapBuffer allocate(
      long bytes, int alignmentBytes, Function<ByteBuffer, Runnable> prepare) {
    if (bytes < 0 || bytes > Integer.MAX_VALUE - ALIGNMENT_BYTES) {
      throw new IllegalArgumentException(
          "%,d bytes outside [0, %,d]".formatted(bytes, Integer.MAX_VALUE - ALIGNMENT_BYTES));
    }
    return of(OffHeap.INSTANCE.allocate((int) bytes, alignmentBytes), prepare);
  }

  /** A buffer of memory, which is freed with it, or now if it cannot be prepared. */
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

  /** Bytes allocated and not yet closed in this JVM. */
  public static long liveBytes() {
    return LIVE_BYTES.get();
  }

  /** The memory, little-endian, position 0, limit = capacity = the bytes asked for. */
  public ByteBuffer buffer() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return memory.buffer();
  }

  /** Where the memory begins, for native code; valid until it is closed. */
  public long address() {
    return address;
  }

  /** Frees the memory; the buffer must not be touched afterwards. Idempotent. */
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
