package org.ddstore.spark;

import java.util.Base64;

/**
 * What a rank says in the one allGather of a start: the address of its collective endpoint. Every
 * rank gets every message from the driver, so it is short: at most {@value #MAX_BYTES} bytes of
 * text.
 */
final class StartMessage {
  static final int MAX_BYTES = 256;

  private final byte[] endpoint;

  StartMessage(byte[] endpoint) {
    this.endpoint = endpoint.clone();
  }

  byte[] endpoint() {
    return endpoint.clone();
  }

  String encode() {
    String text = Base64.getEncoder().withoutPadding().encodeToString(endpoint);
    if (text.length() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "the start message of a rank has %d bytes, at most %d are sent"
              .formatted(text.length(), MAX_BYTES));
    }
    return text;
  }

  static StartMessage decode(String text) {
    return new StartMessage(Base64.getDecoder().decode(text));
  }
}
