// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A secret that both sides of a {@link Handshake} prove to have, and never send. */
public interface ProofKey {
  String ALGORITHM = "HmacSHA256";

  /** Returns the HMAC-SHA256 (RFC 2104) of a message under the secret. */
  byte[] sign(byte[] message);

  /** Returns the HMAC-SHA256 of a message under a secret of at least one byte. */
  static byte[] sign(byte[] secret, byte[] message) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("no " + ALGORITHM + " in this JVM", e);
    }
  }
}
