package org.ddstore.spark.job;

import java.util.Arrays;
import java.util.Base64;

/**
 * The message of a rank in the only allGather of a start: the address of its collective endpoint,
 * and the transport that it can use, see {@link TransportChoice#offer}. Every rank receives every
 * message from the driver, so a message is short: at most {@value #MAX_BYTES} bytes of text.
 */
final class StartMessage {
  static final int MAX_BYTES = 256;

  private final byte[] offer;
  private final byte[] endpoint;

  /**
   * @param offer {@link TransportChoice#OFFER_BYTES} bytes of {@link TransportChoice#offer}
   * @param endpoint address of the collective endpoint
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
          "the start message of a rank has %d bytes, at most %d are allowed"
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
