// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentMap;

/** A segment that this process exports, registered at a serving endpoint. Guarded by its owner. */
final class ServedSegment {
  /** Largest number of offsets that is sent in the table; larger offset tables are registered. */
  private static final int MOST_OFFSETS_SENT = 16 << 10;

  private final Segment segment;
  private final SegmentMap map;
  private final List<Registration> registrations = new ArrayList<>();
  private Registration word;
  private List<Registration> chunks = List.of();
  private List<Registration> offsets = List.of();

  /**
   * @param segment segment with a reference for this object
   */
  ServedSegment(Segment segment) {
    this.segment = segment;
    this.map = segment.map();
  }

  boolean isRegistered() {
    return !registrations.isEmpty();
  }

  /** Registers all parts. After a failure some parts can be registered: the caller deregisters. */
  void register(ServingEndpoint end) {
    word = register(end, map.version());
    chunks = registerAll(end, map.chunks());
    offsets = sendsOffsets() ? List.of() : registerAll(end, map.offsets());
  }

  private List<Registration> registerAll(ServingEndpoint end, List<ByteBuffer> memories) {
    return memories.stream().map(memory -> register(end, memory)).toList();
  }

  private Registration register(ServingEndpoint end, ByteBuffer memory) {
    Registration registered = end.register(memory);
    registrations.add(registered);
    return registered;
  }

  /**
   * Ends all registrations.
   *
   * @return false if one cannot be ended: then only closing the endpoint ends access by others
   */
  boolean deregister() {
    boolean ended = true;
    for (Registration registration : registrations) {
      ended &= registration.deregister();
    }
    registrations.clear();
    return ended;
  }

  /** Gives the reference back; no process reads the segment any more. */
  void release() {
    segment.release();
  }

  private boolean sendsOffsets() {
    return segment.rows() < MOST_OFFSETS_SENT;
  }

  MemoryTable table(String means, ServingEndpoint end) {
    return new MemoryTable(
        means,
        end.address(),
        word.piece(),
        segment.version(),
        map.rowShift(),
        pieces(chunks),
        map.chunkStarts(),
        map.offsetShift(),
        sendsOffsets() ? allOffsets() : List.of(),
        pieces(offsets));
  }

  private static List<MemoryTable.Piece> pieces(List<Registration> registrations) {
    return registrations.stream().map(Registration::piece).toList();
  }

  private List<Long> allOffsets() {
    if (map.offsets().isEmpty()) {
      return List.of();
    }
    return Stream.iterate(0, row -> row + 1)
        .limit(segment.rows() + 1)
        .map(
            row ->
                map.offsets()
                    .get(row >>> map.offsetShift())
                    .getLong((row & (1 << map.offsetShift()) - 1) * Long.BYTES))
        .toList();
  }
}
