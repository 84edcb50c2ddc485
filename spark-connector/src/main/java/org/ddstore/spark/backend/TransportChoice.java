// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.ddstore.types.DDStoreException;

/**
 * The choice of the transport for rows outside of shared memory. Each rank sends the offers of the
 * transports that it can use to all ranks in the allGather of the start, so all ranks compute the
 * same choice: the configured transport, or the first one of {@code auto} that all ranks can use.
 */
public final class TransportChoice {
  /** Largest size in bytes of the offers of a rank. */
  public static final int MAX_OFFER_BYTES = 55;

  private record NamedOffer(String name, TransportOffer offer) {}

  private final String transport;
  private final boolean isAuto;
  private final List<NamedOffer> offers;

  private TransportChoice(String transport, boolean isAuto, List<NamedOffer> offers) {
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
            .map(backend -> new NamedOffer(backend.name(), backend.offer(place, isAuto)))
            .toList());
  }

  /**
   * Returns the offers that this rank sends to the others, at most {@value #MAX_OFFER_BYTES} bytes:
   * for each transport its name and its offer, in the order of preference. One byte with its length
   * precedes each.
   */
  public byte[] offer() {
    ByteBuffer all = ByteBuffer.allocate(MAX_OFFER_BYTES);
    for (NamedOffer each : offers) {
      byte[] name = each.name.getBytes(StandardCharsets.UTF_8);
      byte[] bytes = each.offer.bytes();
      if (2 + name.length + bytes.length > all.remaining()) {
        throw new IllegalStateException(
            "the names and offers of the transports %s have more than %d bytes"
                .formatted(names(), MAX_OFFER_BYTES));
      }
      all.put((byte) name.length).put(name).put((byte) bytes.length).put(bytes);
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
   * @throws DDStoreException on all ranks if a transport is configured that a rank cannot use, or
   *     if the ranks choose from different transports
   */
  public OpenTransport open(List<byte[]> all, TransportStart start) {
    List<Map<String, byte[]>> ranks = all.stream().map(TransportChoice::read).toList();
    checkSameTransports(ranks.stream().map(rank -> List.copyOf(rank.keySet())).toList());
    List<String> refusals = new ArrayList<>();
    for (NamedOffer each : offers) {
      TransportOffer offer = each.offer;
      Optional<String> refusal =
          offer.refusal(ranks.stream().map(rank -> rank.get(each.name)).toList());
      if (refusal.isEmpty()) {
        return offer.open(start, isAuto ? String.join("; ", refusals) : transport + ": asked for");
      }
      refusals.add(refusal.get());
    }
    throw new DDStoreException(String.join("; ", refusals));
  }

  private String names() {
    return offers.stream().map(NamedOffer::name).collect(Collectors.joining(", "));
  }

  /**
   * Returns the offers of {@link #offer} by name.
   *
   * @throws IllegalArgumentException if they are truncated
   */
  static Map<String, byte[]> read(byte[] offers) {
    Map<String, byte[]> byName = new LinkedHashMap<>();
    ByteBuffer unread = ByteBuffer.wrap(offers);
    while (unread.hasRemaining()) {
      byName.put(new String(next(unread), StandardCharsets.UTF_8), next(unread));
    }
    return byName;
  }

  private static byte[] next(ByteBuffer offers) {
    int length = offers.hasRemaining() ? offers.get() : -1;
    if (length < 0 || length > offers.remaining()) {
      throw new IllegalArgumentException("offers of transports are truncated");
    }
    byte[] next = new byte[length];
    offers.get(next);
    return next;
  }

  /** Throws the same exception on all ranks if the executors do not have the same transports. */
  private static void checkSameTransports(List<List<String>> ranks) {
    for (int r = 1; r < ranks.size(); r++) {
      if (!ranks.get(r).equals(ranks.get(0))) {
        throw new DDStoreException(
            "rank %d has other transports than rank 0: %s instead of %s; pass the same jars to all executors, in --jars or in spark.executor.extraClassPath"
                .formatted(r, String.join(", ", ranks.get(r)), String.join(", ", ranks.get(0))));
      }
    }
  }
}
