// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.util.List;
import org.ddstore.memory.SegmentMap;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;

/** The locations of a segment's parts, as sent by its owner. Shared; thread-safe. */
final class RemoteMemory {
  private static final int MOST_SHIFT = 62; // 1L << 63 is negative

  private final RemoteSegment segment;
  private final MemoryTable table;
  private final long[] chunkStarts;
  private final long[] offsets;
  private volatile long version;

  RemoteMemory(RemoteSegment segment, MemoryTable table) {
    this.segment = segment;
    this.table = table;
    this.chunkStarts = table.chunkStarts().stream().mapToLong(Long::longValue).toArray();
    this.offsets = table.offsets().stream().mapToLong(Long::longValue).toArray();
    this.version = table.version();
    check();
  }

  /** Checks the table, so that no read of an existing row leaves the piece that it refers to. */
  private void check() {
    boolean legal =
        table.word().bytes() >= Long.BYTES
            && isShift(table.rowShift())
            && isShift(table.offsetShift())
            && (segment.recordBytes() == 0
                ? streamFits() && offsetsFit()
                : fits(table.chunks(), table.rowShift(), segment.rows(), segment.recordBytes()));
    if (!legal) {
      throw new DDStoreException(
          "the table of a segment of %s does not fit its %,d rows"
              .formatted(segment.process(), segment.rows()));
    }
  }

  private static boolean isShift(int shift) {
    return shift >= 0 && shift <= MOST_SHIFT;
  }

  /** Returns whether the pieces fit: 2^{@code shift} elements in each but the last. */
  private static boolean fits(
      List<MemoryTable.Piece> pieces, int shift, long elements, int elementBytes) {
    int piece = 0;
    for (long left = elements; left > 0; piece++) {
      long here = Math.min(left, 1L << shift);
      if (piece == pieces.size() || pieces.get(piece).bytes() / elementBytes < here) {
        return false;
      }
      left -= here;
    }
    return true;
  }

  private boolean streamFits() {
    List<MemoryTable.Piece> chunks = table.chunks();
    if (chunkStarts.length != chunks.size() + 1 || chunkStarts[0] != 0) {
      return false;
    }
    for (int chunk = 0; chunk < chunks.size(); chunk++) {
      long start = chunkStarts[chunk];
      long end = chunkStarts[chunk + 1];
      if (end < start || end - start > chunks.get(chunk).bytes()) {
        return false;
      }
    }
    return true;
  }

  private boolean offsetsFit() {
    return offsets.length > 0
        ? offsets.length == segment.rows() + 1
        : fits(table.offsetPieces(), table.offsetShift(), segment.rows() + 1, Long.BYTES);
  }

  ProcessAddress process() {
    return segment.process();
  }

  MemoryTable table() {
    return table;
  }

  /** Returns whether the table has the offsets of ragged records; if not, they are read. */
  boolean hasOffsets() {
    return offsets.length > 0;
  }

  long offset(long row) {
    return offsets[(int) row];
  }

  /** Returns the chunk that contains an offset of the stream of ragged records. */
  int chunkOf(long offset) {
    return SegmentMap.chunkOf(chunkStarts, offset);
  }

  /** Returns the start of a chunk in the stream of ragged records, or the end of the stream. */
  long chunkStart(int chunk) {
    return chunkStarts[chunk];
  }

  long streamBytes() {
    return chunkStarts[chunkStarts.length - 1];
  }

  /** Returns the version last read; if rows arrive between two equal ones, they are stable. */
  long version() {
    return version;
  }

  void setVersion(long version) {
    this.version = version;
  }

  @Override
  public String toString() {
    return "RemoteMemory[%s of %s]".formatted(segment.nonce(), segment.process());
  }
}
