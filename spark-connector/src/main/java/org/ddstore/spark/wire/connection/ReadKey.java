// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/**
 * A key to read the rows of a store from outside of Spark: the HMAC-SHA256 of {@link ReadClaims}
 * under the secret of the store. Its holder cannot change the claims, derive other keys or control
 * the store.
 */
public final class ReadKey implements ProofKey {
  public static final int BYTES = 32;

  private static final byte[] DOMAIN = "ddstore read key 1".getBytes(StandardCharsets.US_ASCII);

  private final byte[] secret;

  /**
   * @param secret 32 bytes, copied
   */
  public ReadKey(byte[] secret) {
    if (secret.length != BYTES) {
      throw new IllegalArgumentException(
          "a read key has %d bytes, not %d".formatted(BYTES, secret.length));
    }
    this.secret = secret.clone();
  }

  public static ReadKey derive(StoreToken token, ReadClaims claims) {
    byte[] bytes = claims.toBytes();
    ByteBuffer message = ByteBuffer.allocate(DOMAIN.length + bytes.length).put(DOMAIN).put(bytes);
    return new ReadKey(token.sign(message.array()));
  }

  /** Returns a key that nobody has. */
  public static ReadKey random() {
    byte[] secret = new byte[BYTES];
    new SecureRandom().nextBytes(secret);
    return new ReadKey(secret);
  }

  /** Returns a copy of the secret. */
  public byte[] toBytes() {
    return secret.clone();
  }

  @Override
  public byte[] sign(byte[] message) {
    return ProofKey.sign(secret, message);
  }

  @Override
  public String toString() {
    return "ReadKey";
  }
}
