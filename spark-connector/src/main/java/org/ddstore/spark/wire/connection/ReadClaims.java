// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.ddstore.memory.Nonce;

/**
 * What a {@link ReadKey} permits: to read all rows of a store, over data ports, until a time.
 *
 * @param store id of the store
 * @param label name of the grant: 1 to 64 letters, digits, dots, underscores and hyphens
 * @param expiresMs end in milliseconds since 1970, by the clock of each owner; {@link #NEVER}: the
 *     end of the store
 */
public record ReadClaims(Nonce store, String label, long expiresMs) {
  public static final long NEVER = Long.MAX_VALUE;

  private static final byte VERSION = 1;
  private static final int HEADER_BYTES = 1 + Handshake.STORE_BYTES + Long.BYTES;
  private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  /**
   * @throws IllegalArgumentException if the label is illegal
   */
  public ReadClaims {
    if (!LABEL.matcher(label).matches()) {
      throw new IllegalArgumentException(
          "label \"%s\": 1 to 64 letters, digits, dots, underscores and hyphens are legal"
              .formatted(label));
    }
  }

  /** Returns the only encoding: version, store (16 bytes), end (int64), label in ASCII. */
  public byte[] toBytes() {
    byte[] name = label.getBytes(StandardCharsets.US_ASCII);
    ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + name.length).put(VERSION);
    Handshake.putStore(out, store);
    return out.putLong(expiresMs).put(name).array();
  }

  /**
   * Parses the bytes that {@link #toBytes} returned.
   *
   * @throws IllegalArgumentException if they are no claims
   */
  public static ReadClaims parse(byte[] bytes) {
    if (bytes.length <= HEADER_BYTES || bytes[0] != VERSION) {
      throw new IllegalArgumentException("claims of %d bytes".formatted(bytes.length));
    }
    ByteBuffer in = ByteBuffer.wrap(bytes).position(1);
    Nonce store = Handshake.getStore(in);
    long expiresMs = in.getLong();
    return new ReadClaims(store, StandardCharsets.US_ASCII.decode(in).toString(), expiresMs);
  }
}
