// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import org.ddstore.transport.PeerRows;
import org.ddstore.types.DDStoreException;

/** The reads of one process's memory for the requested rows of one fetch. */
final class PeerReads {
  private final PeerRows rows;
  private final RemoteMemory[] memories;
  private final int[] sources;
  private final long[] versions;
  private final long[] runOffset;
  private long landing;
  private int region;

  /** Prepares the reads; queries owners that have not been queried yet. */
  PeerReads(
      PeerRows rows,
      RemoteMemories known,
      ReadingEndpoint end,
      SilenceWatch silence,
      long deadlineNs) {
    this.rows = rows;
    this.memories = new RemoteMemory[rows.segments()];
    this.sources = new int[rows.segments()];
    this.versions = new long[rows.segments()];
    this.runOffset = new long[isRagged() ? rows.runs() : 0];
    for (int run = 0; run < rows.runs(); run++) {
      int segment = rows.segmentNumber(run);
      if (memories[segment] == null) {
        memories[segment] = known.of(rows.segment(run), silence, deadlineNs);
        sources[segment] = end.sourceOf(memories[segment]);
      }
    }
  }

  PeerRows rows() {
    return rows;
  }

  boolean isRagged() {
    return rows.recordBytes() == 0;
  }

  // Offsets of ragged records.

  long offsetBytes() {
    long words = 0;
    for (int run = 0; isRagged() && run < rows.runs(); run++) {
      words += memory(run).hasOffsets() ? 0 : count(run) + 1;
    }
    return words * Long.BYTES;
  }

  /**
   * Adds reads of the missing offsets: those of each run and of its end.
   *
   * @param first address for the first offset; the others follow
   * @return address after the last offset
   */
  long addOffsets(ReadList reads, long first, int wordsRegion) {
    long to = first;
    for (int run = 0; isRagged() && run < rows.runs(); run++) {
      if (memory(run).hasOffsets()) {
        continue;
      }
      MemoryTable table = memory(run).table();
      int firstSource = source(run) + 1 + table.chunks().size();
      long row = rows.firstRow(run);
      long end = row + count(run) + 1;
      while (row < end) {
        int piece = (int) (row >>> table.offsetShift());
        long pieceStart = (long) piece << table.offsetShift();
        long words = Math.min(end, pieceStart + (1L << table.offsetShift())) - row;
        int bytes = Math.toIntExact(words * Long.BYTES);
        reads.add(
            table.offsetPieces().get(piece).remote() + (row - pieceStart) * Long.BYTES,
            to,
            bytes,
            firstSource + piece,
            wordsRegion);
        to += bytes;
        row += words;
      }
    }
    return to;
  }

  /** Takes lengths from the words of {@link #addOffsets}; returns the position after them. */
  int takeOffsets(ByteBuffer words, int position) {
    int at = position;
    for (int run = 0; isRagged() && run < rows.runs(); run++) {
      RemoteMemory memory = memory(run);
      long first = rows.firstRow(run);
      boolean here = memory.hasOffsets();
      long offset = here ? memory.offset(first) : words.getLong(at);
      runOffset[run] = offset;
      for (int i = 1; i <= count(run); i++) {
        long next = here ? memory.offset(first + i) : words.getLong(at + i * Long.BYTES);
        rows.setLength(rows.firstSlot(run) + i - 1, checkLength(memory, offset, next));
        offset = next;
      }
      at += here ? 0 : (count(run) + 1) * Long.BYTES;
    }
    return at;
  }

  private int checkLength(RemoteMemory memory, long offset, long next) {
    if (offset < 0 || next < offset || next > memory.streamBytes() || next - offset > 1L << 30) {
      throw new DDStoreException(
          "process %s has an invalid record [%,d, %,d); its stream has %,d bytes"
              .formatted(rows.process(), offset, next, memory.streamBytes()));
    }
    return (int) (next - offset);
  }

  // Rows.

  /** Reserves memory for the rows, whose lengths are known. Once for each fetch. */
  void reserve(LandingMemory landings, ReadingEndpoint end) {
    rows.beforeStagingIsFreed(() -> landings.forget(rows));
    ByteBuffer staging = rows.reserve();
    landing = FabricNative.addressOf(staging);
    region = landings.regionOf(rows, staging, end);
  }

  /** Adds reads of all rows, and records the known versions of their segments. */
  void addRows(ReadList reads) {
    for (int segment = 0; segment < versions.length; segment++) {
      versions[segment] = memories[segment].version();
    }
    for (int run = 0; run < rows.runs(); run++) {
      long to = landing + rows.start(rows.firstSlot(run));
      if (isRagged()) {
        addRagged(reads, run, to);
      } else {
        addFixed(reads, run, to);
      }
    }
  }

  private void addFixed(ReadList reads, int run, long start) {
    MemoryTable table = memory(run).table();
    long row = rows.firstRow(run);
    long end = row + count(run);
    long to = start;
    while (row < end) {
      int chunk = (int) (row >>> table.rowShift());
      long chunkStart = (long) chunk << table.rowShift();
      int bytes =
          (int) (Math.min(end, chunkStart + (1L << table.rowShift())) - row) * rows.recordBytes();
      reads.add(
          table.chunks().get(chunk).remote() + (row - chunkStart) * rows.recordBytes(),
          to,
          bytes,
          source(run) + 1 + chunk,
          region);
      to += bytes;
      row += bytes / rows.recordBytes();
    }
  }

  private void addRagged(ReadList reads, int run, long start) {
    RemoteMemory memory = memory(run);
    long offset = runOffset[run];
    long end = offset + rows.start(rows.firstSlot(run + 1)) - rows.start(rows.firstSlot(run));
    long to = start;
    while (offset < end) {
      int chunk = memory.chunkOf(offset);
      int bytes = (int) (Math.min(end, memory.chunkStart(chunk + 1)) - offset);
      reads.add(
          memory.table().chunks().get(chunk).remote() + offset - memory.chunkStart(chunk),
          to,
          bytes,
          source(run) + 1 + chunk,
          region);
      to += bytes;
      offset += bytes;
    }
  }

  // Versions.

  int versionBytes() {
    return versions.length * Long.BYTES;
  }

  /** Adds a read of the version word of each segment into consecutive addresses. */
  void addVersions(ReadList reads, long first, int wordsRegion) {
    for (int segment = 0; segment < versions.length; segment++) {
      reads.add(
          memories[segment].table().word().remote(),
          first + (long) segment * Long.BYTES,
          Long.BYTES,
          sources[segment],
          wordsRegion);
    }
  }

  /**
   * Returns whether no row can have changed while it was read.
   *
   * @param words little-endian words with the versions after the rows were read
   */
  boolean isStable(ByteBuffer words, int position) {
    boolean stable = true;
    for (int segment = 0; segment < versions.length; segment++) {
      long now = words.getLong(position + segment * Long.BYTES);
      memories[segment].setVersion(now);
      stable &= now == versions[segment] && (now & 1) == 0;
    }
    return stable;
  }

  private RemoteMemory memory(int run) {
    return memories[rows.segmentNumber(run)];
  }

  private int source(int run) {
    return sources[rows.segmentNumber(run)];
  }

  private int count(int run) {
    return rows.firstSlot(run + 1) - rows.firstSlot(run);
  }
}
