// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.ddstore.fabric.FabricProvider;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.spark.backend.TransportOffer;
import org.ddstore.spark.backend.TransportStart;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedTransport;

/**
 * The offer of a rank to read by libfabric. The ranks can if all have the same provider, with
 * {@code auto} also RDMA hardware.
 *
 * @param own selection of this rank
 */
record FabricTransportOffer(FabricProvider provider, OneSidedChoice own, boolean isAuto)
    implements TransportOffer {
  static final int BYTES = 1 + Integer.BYTES;

  private static final byte NOTHING = 0;
  private static final byte SOFTWARE = 1;
  private static final byte RDMA = 2;

  @Override
  public byte[] bytes() {
    byte kind = NOTHING;
    if (own.isAvailable()) {
      kind = own.rdma() ? RDMA : SOFTWARE;
    }
    return ByteBuffer.allocate(BYTES).put(kind).putInt(own.means().hashCode()).array();
  }

  @Override
  public Optional<String> refusal(List<byte[]> all) {
    int without = firstBelow(all, isAuto ? RDMA : SOFTWARE);
    int other = firstOfOtherMeans(all);
    if (without < 0 && other < 0) {
      return Optional.empty();
    }
    String why = without >= 0 ? lacks(without, all.get(without)) : differs(other);
    return Optional.of(
        (isAuto
                ? "auto takes fabric only with RDMA hardware on all ranks; "
                : "the ranks cannot read by fabric: ")
            + why);
  }

  @Override
  public OpenTransport open(TransportStart start, String reason) {
    OneSidedTransport opened = start.network().oneSided(calls -> provider.open(own, calls));
    // The first rank of this JVM opened it for all, so the reason is that of the open transport.
    return OpenTransport.of(start.network(), opened, opened.detail());
  }

  /** Returns the first rank whose offer is below {@code least}, or -1. */
  private static int firstBelow(List<byte[]> offers, byte least) {
    return IntStream.range(0, offers.size())
        .filter(rank -> offers.get(rank)[0] < least)
        .findFirst()
        .orElse(-1);
  }

  private static int firstOfOtherMeans(List<byte[]> offers) {
    int first = means(offers.get(0));
    return IntStream.range(0, offers.size())
        .filter(rank -> means(offers.get(rank)) != first)
        .findFirst()
        .orElse(-1);
  }

  private static int means(byte[] offer) {
    return ByteBuffer.wrap(offer).getInt(1);
  }

  private String lacks(int rank, byte[] offer) {
    return "rank %d has %s (this rank: %s)"
        .formatted(rank, offer[0] == NOTHING ? "none" : "software only", own.detail());
  }

  private String differs(int rank) {
    return "rank %d would use another provider than rank 0 (this rank: %s); set %s to one that all ranks have"
        .formatted(rank, own.detail(), OptionKeys.SETTING_FABRIC_PROVIDER);
  }
}
