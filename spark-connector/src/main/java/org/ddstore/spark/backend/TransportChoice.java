// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.ddstore.types.DDStoreException;

/**
 * The choice of the transport for rows outside of shared memory. Each rank sends the offers of the
 * transports that it can use to all ranks in the allGather of the start, so all ranks compute the
 * same choice: the configured transport, or the first one of {@code auto} that all ranks can use.
 */
public final class TransportChoice {
  /** Largest size in bytes of the offers of a rank. */
  public static final int MAX_OFFER_BYTES = 48;

  private final String transport;
  private final boolean isAuto;
  private final List<TransportOffer> offers;

  private TransportChoice(String transport, boolean isAuto, List<TransportOffer> offers) {
    this.transport = transport;
    this.isAuto = isAuto;
    this.offers = offers;
  }

  /**
   * Finds the transports that this rank can use. Local.
   *
   * @param transport value of {@code spark.ddstore.transport}
   * @throws DDStoreException if a transport is configured that this rank cannot use
   */
  public static TransportChoice of(String transport, RankPlace place) {
    boolean isAuto = TransportBackends.configured(transport).isEmpty();
    return new TransportChoice(
        transport,
        isAuto,
        TransportBackends.candidates(transport).stream()
            .map(backend -> backend.offer(place, isAuto))
            .toList());
  }

  /**
   * Returns the offers that this rank sends to the others, at most {@value #MAX_OFFER_BYTES} bytes:
   * for each transport one byte with the length of its offer, and the offer.
   */
  public byte[] offer() {
    ByteBuffer all = ByteBuffer.allocate(MAX_OFFER_BYTES);
    for (TransportOffer each : offers) {
      byte[] bytes = each.bytes();
      if (bytes.length >= all.remaining()) {
        throw new IllegalStateException(
            "the offers of %s have more than %d bytes".formatted(transport, MAX_OFFER_BYTES));
      }
      all.put((byte) bytes.length).put(bytes);
    }
    byte[] used = new byte[all.position()];
    all.flip().get(used);
    return used;
  }

  /**
   * Opens the transport that all ranks agree on. Collective over the ranks of {@code start}.
   *
   * @param all {@link #offer()} of all ranks, in rank order
   * @return transport that the caller closes
   * @throws DDStoreException if a transport is configured that a rank cannot use
   */
  public OpenTransport open(List<byte[]> all, TransportStart start) {
    List<ByteBuffer> unread = all.stream().map(ByteBuffer::wrap).toList();
    List<String> refusals = new ArrayList<>();
    for (TransportOffer offer : offers) {
      Optional<String> refusal = offer.refusal(unread.stream().map(TransportChoice::next).toList());
      if (refusal.isEmpty()) {
        return offer.open(start, isAuto ? String.join("; ", refusals) : transport + ": asked for");
      }
      refusals.add(refusal.get());
    }
    throw new DDStoreException(String.join("; ", refusals));
  }

  private static byte[] next(ByteBuffer offers) {
    byte[] offer = new byte[offers.get()];
    offers.get(offer);
    return offer;
  }
}
