// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.spark.backend.TransportChoice;

/**
 * The message of a rank in the {@link StartExchange}: the address of its collective endpoint, and
 * the transports that it can use, see {@link TransportChoice#offer}. Every process receives the
 * messages of all ranks, so a message is short.
 *
 * @param offer result of {@link TransportChoice#offer}, at most 127 bytes
 * @param endpoint result of {@link org.ddstore.collective.GroupEndpoint#address}
 */
@SuppressWarnings("ArrayRecordComponent") // messages are not compared
public record StartMessage(byte[] offer, byte[] endpoint) {
  /** Returns one byte with the length of the offer, the offer, and the address. */
  public byte[] encode() {
    if (offer.length > Byte.MAX_VALUE) {
      throw new IllegalArgumentException(
          "an offer has %d bytes, at most %d are allowed".formatted(offer.length, Byte.MAX_VALUE));
    }
    return ByteBuffer.allocate(1 + offer.length + endpoint.length)
        .put((byte) offer.length)
        .put(offer)
        .put(endpoint)
        .array();
  }

  /**
   * Returns the message of {@link #encode}.
   *
   * @throws IllegalArgumentException if it is truncated
   */
  public static StartMessage decode(byte[] message) {
    int endpointAt = message.length == 0 ? 0 : 1 + message[0];
    if (endpointAt < 1 || endpointAt > message.length) {
      throw new IllegalArgumentException(
          "start message of %d bytes is truncated".formatted(message.length));
    }
    return new StartMessage(
        Arrays.copyOfRange(message, 1, endpointAt),
        Arrays.copyOfRange(message, endpointAt, message.length));
  }
}
