// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.types.DDStoreException;

/** A registration of memory that a serving endpoint lets others read. Ended before the endpoint. */
final class Registration {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final AtomicLong LIVE = new AtomicLong();
  private static final int KEY_TAKEN = -126; // FI_ENOKEY: the key is in use
  private static final int TRIES = 8;

  private final long region;
  private final MemoryTable.Piece piece;

  private Registration(long region, MemoryTable.Piece piece) {
    this.region = region;
    this.piece = piece;
    LIVE.incrementAndGet();
  }

  /** Registers direct memory, under a random key if the provider allows it. */
  static Registration of(FabricLibrary library, long end, ByteBuffer memory) {
    long address = FabricNative.addressOf(memory);
    long bytes = memory.capacity();
    long region = KEY_TAKEN;
    for (int i = 0; i < TRIES && region == KEY_TAKEN; i++) {
      region = FabricNative.register(end, address, bytes, RANDOM.nextLong());
    }
    if (region < 0) {
      throw new DDStoreException(
          "fi_mr_reg of %,d bytes: %s. Registered memory is locked: ulimit -l unlimited, or LimitMEMLOCK=infinity for the service that starts executors; pages of a disk file cannot be registered with every device"
              .formatted(bytes, library.errorText((int) region)));
    }
    return new Registration(
        region,
        new MemoryTable.Piece(FabricNative.base(end, address), FabricNative.key(region), bytes));
  }

  /** Returns the number of registrations in this JVM, including those that could not be ended. */
  static long live() {
    return LIVE.get();
  }

  MemoryTable.Piece piece() {
    return piece;
  }

  /** Ends the registration, once; returns false if only the endpoint's close ends it. */
  boolean deregister() {
    boolean ended = FabricNative.deregister(region) >= 0;
    if (ended) {
      LIVE.decrementAndGet();
    }
    return ended;
  }
}
