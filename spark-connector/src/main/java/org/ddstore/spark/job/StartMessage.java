// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import org.ddstore.spark.backend.TransportChoice;

/**
 * The message of a rank in the only allGather of a start: the address of its collective endpoint,
 * and the transports that it can use, see {@link TransportChoice#offer}. Every rank receives every
 * message from the driver, so a message is short: at most {@value #MAX_BYTES} bytes of text.
 */
final class StartMessage {
  static final int MAX_BYTES = 320;

  private final byte[] offer;
  private final byte[] endpoint;

  /**
   * @param offer result of {@link TransportChoice#offer}, at most 127 bytes
   */
  StartMessage(byte[] offer, byte[] endpoint) {
    this.offer = offer.clone();
    this.endpoint = endpoint.clone();
  }

  byte[] offer() {
    return offer.clone();
  }

  byte[] endpoint() {
    return endpoint.clone();
  }

  String encode() {
    byte[] both =
        ByteBuffer.allocate(1 + offer.length + endpoint.length)
            .put((byte) offer.length)
            .put(offer)
            .put(endpoint)
            .array();
    String text = Base64.getEncoder().withoutPadding().encodeToString(both);
    if (text.length() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "the start message of a rank has %d bytes, at most %d are allowed"
              .formatted(text.length(), MAX_BYTES));
    }
    return text;
  }

  static StartMessage decode(String text) {
    byte[] both = Base64.getDecoder().decode(text);
    int endpointAt = 1 + both[0];
    return new StartMessage(
        Arrays.copyOfRange(both, 1, endpointAt), Arrays.copyOfRange(both, endpointAt, both.length));
  }
}
