// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;

/** The addresses of buffers for native code. Accesses by address are not checked. */
public final class RawAddress {
  private RawAddress() {}

  /**
   * Returns the address of the first byte of a direct buffer, regardless of its position. The
   * address is valid while the buffer's memory is; the caller keeps the buffer reachable.
   *
   * @throws IllegalArgumentException if the buffer is on the heap, where the collector moves
   *     objects
   */
  public static long of(ByteBuffer buffer) {
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException("not a direct buffer: " + buffer);
    }
    return OffHeap.INSTANCE.address(buffer);
  }
}
