package org.ddstore.memory;

import java.nio.ByteBuffer;

/** Addresses of buffers, for native code. Nothing checks what is done with them. */
public final class RawAddress {
  private RawAddress() {}

  /**
   * Where the first byte of a direct buffer is, whatever its position. It is valid as long as the
   * buffer's memory is: the caller keeps the buffer reachable meanwhile.
   *
   * @throws IllegalArgumentException if the buffer is on the heap, where nothing stays in its place
   */
  public static long of(ByteBuffer buffer) {
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException("not a direct buffer: " + buffer);
    }
    return OffHeap.INSTANCE.address(buffer);
  }
}
