// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.ddstore.memory.Segment;
import org.ddstore.transport.Reach;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.Schema;

/** The schema and address of the shard that a rank contributes, as sent to the other ranks. */
record ShardOffer(Schema schema, SegmentAddress address) {
  private static final ContentCache<List<SegmentAddress>> PARSED = new ContentCache<>();
  private static final String PROCESS = ProcessHandle.current().pid() + "@" + hostName();

  static ShardOffer of(Segment segment, Reach reach) {
    return new ShardOffer(segment.schema(), SegmentAddress.of(segment, PROCESS, reach));
  }

  /** Returns the address of a segment of this process that does not belong to a store. */
  static SegmentAddress addressOf(Segment segment, Transport transport) {
    return SegmentAddress.of(
        segment, PROCESS, new Reach(transport, true, Reach.MEMORY.readTimeout()));
  }

  byte[] toBytes() {
    byte[] schemaBytes = schema.toBytes();
    byte[] addressBytes = address.toBytes();
    return ByteBuffer.allocate(Integer.BYTES + schemaBytes.length + addressBytes.length)
        .putInt(schemaBytes.length)
        .put(schemaBytes)
        .put(addressBytes)
        .array();
  }

  /** Parses {@link #toBytes}; throws {@link IllegalArgumentException} if it is invalid. */
  private static ShardOffer parse(byte[] bytes) {
    int schemaBytes = bytes.length < Integer.BYTES ? -1 : ByteBuffer.wrap(bytes).getInt();
    if (schemaBytes < 0 || schemaBytes > bytes.length - Integer.BYTES) {
      throw new IllegalArgumentException("invalid shard offer of %d bytes".formatted(bytes.length));
    }
    ByteBuffer schema = ByteBuffer.wrap(bytes, Integer.BYTES, schemaBytes);
    return new ShardOffer(
        Schema.parse(schema.order(ByteOrder.LITTLE_ENDIAN)),
        SegmentAddress.parse(Arrays.copyOfRange(bytes, Integer.BYTES + schemaBytes, bytes.length)));
  }

  /**
   * Returns the addresses by rank, in a list that the ranks of this process share; throws the same
   * exception on all ranks if schemas differ.
   */
  static List<SegmentAddress> addresses(String call, byte[]... offers) {
    return PARSED.get(() -> parseAll(call, offers), offers);
  }

  private static List<SegmentAddress> parseAll(String call, byte[]... offers) {
    List<SegmentAddress> addresses = new ArrayList<>();
    Schema first = null;
    for (int rank = 0; rank < offers.length; rank++) {
      ShardOffer offer = parse(offers[rank]);
      first = first == null ? offer.schema() : first;
      if (!offer.schema().equals(first)) {
        throw new CollectiveMismatchException(
            rank,
            "%s: schema mismatch: rank %d has %s, rank 0 has %s"
                .formatted(call, rank, offer.schema(), first));
      }
      addresses.add(offer.address());
    }
    return List.copyOf(addresses);
  }

  private static String hostName() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException e) {
      return "unknown host";
    }
  }
}
