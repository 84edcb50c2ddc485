// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.types.DDStoreException;

/** As a driver that does not let go of what it has pinned, while it is stuck. */
public record StuckPinning(AtomicBoolean isStuck) implements DevicePinning {
  public static final String MESSAGE = "the driver does not let go";

  public static HostMemory memory(AtomicBoolean isStuck) {
    return HostMemory.of(new StuckPinning(isStuck), "a stuck driver");
  }

  @Override
  public int device() {
    return 0;
  }

  @Override
  public Runnable pin(ByteBuffer memory) {
    return () -> {
      if (isStuck.get()) {
        throw new DDStoreException(MESSAGE);
      }
    };
  }

  @Override
  public void close() {
    // It holds nothing.
  }
}
