package org.ddstore.memory;

import java.nio.ByteBuffer;

/** Off-heap memory that grows when more is asked for, and then holds nothing of what it held. */
public final class GrowingBuffer implements AutoCloseable {
  /** The most bytes that one buffer can have. */
  public static final int MAX_BYTES = Integer.MAX_VALUE - OffHeapBuffer.ALIGNMENT_BYTES;

  private static final int STEP_BYTES = 4096;
  private static final HostMemory PLAIN = HostMemory.plain("nobody copies it to a device");

  private final HostMemory source;
  private OffHeapBuffer memory = OffHeapBuffer.allocate(0);

  /** Plain memory. */
  public GrowingBuffer() {
    this(PLAIN);
  }

  /** Memory from there, of which it is freed by {@link #close()}. */
  public GrowingBuffer(HostMemory source) {
    this.source = source;
  }

  /** Memory of at least {@code bytes} of [0, {@link #MAX_BYTES}]. */
  public ByteBuffer ensure(long bytes) {
    if (memory.buffer().capacity() < bytes) {
      memory.close();
      memory = OffHeapBuffer.allocate(0);
      memory = source.allocate(capacityFor(bytes));
    }
    return memory.buffer();
  }

  /** The memory, in bytes, that a new buffer takes when so much is asked for: it leaves room. */
  public static long capacityFor(long bytes) {
    return Math.min((bytes + (bytes >> 3) + STEP_BYTES) / STEP_BYTES * STEP_BYTES, MAX_BYTES);
  }

  /** The most bytes whose {@link #capacityFor} is at most this; a multiple of 4,096. */
  public static long bytesWithin(long capacityBytes) {
    return (capacityBytes - STEP_BYTES) / 9 * 8 / STEP_BYTES * STEP_BYTES;
  }

  /** The memory as it is now. */
  public ByteBuffer buffer() {
    return memory.buffer();
  }

  /** Where {@link #buffer()} begins, for native code; valid until more is asked for. */
  public long address() {
    return memory.address();
  }

  /**
   * Gives the memory up without freeing it, because somebody may still write to it; what is asked
   * for afterwards is other memory.
   *
   * @return the memory, the caller's from now on
   */
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
