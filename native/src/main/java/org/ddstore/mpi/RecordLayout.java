// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentMap;

/**
 * The layout of the records of a segment in its chunks, to the extent that another process needs
 * for one-sided reads. The place of a fixed record is computed; the place of a ragged record is an
 * offset, which is read first.
 */
final class RecordLayout {
  private final long rows;
  private final int recordBytes; // 0 for ragged records
  private final int shift; // log2 of rows per chunk, or of offsets per offset buffer
  private final long[] chunkStarts; // of ragged records, followed by the end

  private RecordLayout(long rows, int recordBytes, int shift, long... chunkStarts) {
    this.rows = rows;
    this.recordBytes = recordBytes;
    this.shift = shift;
    this.chunkStarts = chunkStarts;
  }

  static RecordLayout of(Segment segment, SegmentMap map) {
    return segment.schema().isFixed()
        ? new RecordLayout(segment.rows(), segment.schema().fixedBytes(), map.rowShift())
        : new RecordLayout(
            segment.rows(),
            0,
            map.offsetShift(),
            map.chunkStarts().stream().mapToLong(Long::longValue).toArray());
  }

  int recordBytes() {
    return recordBytes;
  }

  /** Returns the place of a fixed record: the chunk in the upper 32 bits, the position below. */
  long place(long row) {
    long chunk = row >>> shift;
    return chunk << 32 | (row - (chunk << shift)) * recordBytes;
  }

  /** Returns the number of fixed records from this one, included, to the end of its chunk. */
  long rowsToChunkEnd(long row) {
    return (1L << shift) - (row & ((1L << shift) - 1));
  }

  /** Returns the place of a ragged record's offset: buffer and position. The next is its end. */
  long offsetPlace(long row) {
    return (row >>> shift) << 32 | (row & ((1L << shift) - 1)) * Long.BYTES;
  }

  /**
   * Returns the place of a ragged record.
   *
   * @param offset offset of its first byte in the stream of records
   */
  long placeOfOffset(long offset) {
    int chunk = SegmentMap.chunkOf(chunkStarts, offset);
    return (long) chunk << 32 | offset - chunkStarts[chunk];
  }

  byte[] toBytes() {
    ByteBuffer out =
        ByteBuffer.allocate(Long.BYTES + 2 * Integer.BYTES + chunkStarts.length * Long.BYTES);
    out.putLong(rows).putInt(recordBytes).putInt(shift);
    Arrays.stream(chunkStarts).forEach(out::putLong);
    return out.array();
  }

  /** Parses {@link #toBytes()}; throws {@link IllegalArgumentException} if it is invalid. */
  static RecordLayout parse(byte[] bytes) {
    int fixed = Long.BYTES + 2 * Integer.BYTES;
    if (bytes.length < fixed || (bytes.length - fixed) % Long.BYTES != 0) {
      throw new IllegalArgumentException(
          "invalid record layout of %d bytes".formatted(bytes.length));
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    long rows = in.getLong();
    int recordBytes = in.getInt();
    int shift = in.getInt();
    long[] chunkStarts = new long[in.remaining() / Long.BYTES];
    in.asLongBuffer().get(chunkStarts);
    return new RecordLayout(rows, recordBytes, shift, chunkStarts);
  }

  @Override
  public String toString() {
    return "RecordLayout[%,d rows, %s]"
        .formatted(rows, recordBytes == 0 ? "ragged" : recordBytes + " bytes each");
  }
}
