// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/** A random 128-bit identifier of a segment or of a lane of a collective. */
public record Nonce(long high, long low) {
  private static final SecureRandom RANDOM = new SecureRandom();

  public static Nonce random() {
    return new Nonce(RANDOM.nextLong(), RANDOM.nextLong());
  }

  /** Reads the 16 bytes that {@link #write} wrote, in the byte order of the buffer. */
  public static Nonce read(ByteBuffer in, int position) {
    return new Nonce(in.getLong(position), in.getLong(position + Long.BYTES));
  }

  /** Writes 16 bytes in the byte order of the buffer. */
  public void write(ByteBuffer out, int position) {
    out.putLong(position, high).putLong(position + Long.BYTES, low);
  }

  @Override
  public String toString() {
    return "%016x%016x".formatted(high, low);
  }
}
