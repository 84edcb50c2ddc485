package org.ddstore.spark.job;

import java.util.Arrays;
import java.util.Base64;

/**
 * What a rank says in the one allGather of a start: the address of its collective endpoint, and
 * what transport it could use, see {@link TransportChoice#offer}. Every rank gets every message
 * from the driver, so it is short: at most {@value #MAX_BYTES} bytes of text.
 */
final class StartMessage {
  static final int MAX_BYTES = 256;

  private final byte[] offer;
  private final byte[] endpoint;

  /**
   * @param offer of {@link TransportChoice#OFFER_BYTES}
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
    byte[] both = Arrays.copyOf(offer, offer.length + endpoint.length);
    System.arraycopy(endpoint, 0, both, offer.length, endpoint.length);
    String text = Base64.getEncoder().withoutPadding().encodeToString(both);
    if (text.length() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "the start message of a rank has %d bytes, at most %d are sent"
              .formatted(text.length(), MAX_BYTES));
    }
    return text;
  }

  static StartMessage decode(String text) {
    byte[] both = Base64.getDecoder().decode(text);
    return new StartMessage(
        Arrays.copyOf(both, TransportChoice.OFFER_BYTES),
        Arrays.copyOfRange(both, TransportChoice.OFFER_BYTES, both.length));
  }
}
