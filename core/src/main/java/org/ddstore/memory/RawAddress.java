// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;

/** The addresses of buffers for native code. Accesses by address are not checked. */
public final class RawAddress {
  private RawAddress() {}

  /** Returns the address of a direct buffer's first byte; the caller keeps it reachable. */
  public static long of(ByteBuffer buffer) {
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException("not a direct buffer: " + buffer);
    }
    return OffHeap.INSTANCE.address(buffer);
  }
}
