// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/** As a driver that counts the buffers that it was ever given to register. */
public record CountedPinning(AtomicInteger registered) implements DevicePinning {
  public static HostMemory memory(AtomicInteger registered) {
    return HostMemory.of(new CountedPinning(registered), "a driver that counts");
  }

  @Override
  public int device() {
    return 0;
  }

  @Override
  public Runnable pin(ByteBuffer memory) {
    registered.incrementAndGet();
    return () -> {};
  }

  @Override
  public void close() {
    // It holds nothing.
  }
}
