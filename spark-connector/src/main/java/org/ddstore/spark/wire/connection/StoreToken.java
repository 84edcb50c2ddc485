// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.io.Serializable;
import java.security.SecureRandom;
import org.ddstore.memory.Nonce;

/**
 * The secret required to read a store over the network: 32 random bytes that the driver generates
 * and sends inside tasks, never in settings, names or logs. The secret is never sent over a
 * connection: {@link Handshake} proves that both sides have it.
 */
public final class StoreToken implements ProofKey, Serializable {
  private static final long serialVersionUID = 1L;
  private static final int SECRET_BYTES = 32;

  private final long idHigh;
  private final long idLow;
  private final byte[] secret = new byte[SECRET_BYTES];

  private StoreToken(Nonce id) {
    this.idHigh = id.high();
    this.idLow = id.low();
  }

  public static StoreToken random() {
    StoreToken token = new StoreToken(Nonce.random());
    new SecureRandom().nextBytes(token.secret);
    return token;
  }

  public Nonce id() {
    return new Nonce(idHigh, idLow);
  }

  @Override
  public byte[] sign(byte[] message) {
    return ProofKey.sign(secret, message);
  }

  @Override
  public String toString() {
    return "StoreToken[" + id() + "]";
  }
}
