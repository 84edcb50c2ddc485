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
  private final int recordBytes;
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

  /** Returns the number of rows of the segment. */
  long rows() {
    return rows;
  }

  /** Returns the bytes of each record; 0 for ragged records. */
  int recordBytes() {
    return recordBytes;
  }

  /**
   * Returns the place of a fixed record: chunk number in the upper 32 bits, position in the chunk
   * in the lower.
   *
   * @param row in [0, rows), not checked here
   */
  long place(long row) {
    long chunk = row >>> shift;
    return chunk << 32 | (row - (chunk << shift)) * recordBytes;
  }

  /**
   * Returns the number of fixed records from this one to the end of its chunk, this one included.
   */
  long rowsToChunkEnd(long row) {
    return (1L << shift) - (row & ((1L << shift) - 1));
  }

  /**
   * Returns the place of the offset of a ragged record: number of the offset buffer in the upper 32
   * bits, position in it in the lower. The offset of the next record is the end of this one.
   *
   * @param row in [0, rows]
   */
  long offsetPlace(long row) {
    return (row >>> shift) << 32 | (row & ((1L << shift) - 1)) * Long.BYTES;
  }

  /**
   * Returns the place of a ragged record.
   *
   * @param offset offset of its first byte in the stream of records
   */
  long placeOfOffset(long offset) {
    int low = 0;
    int high = chunkStarts.length - 2;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (chunkStarts[middle] <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return (long) low << 32 | offset - chunkStarts[low];
  }

  byte[] toBytes() {
    ByteBuffer out =
        ByteBuffer.allocate(Long.BYTES + 2 * Integer.BYTES + chunkStarts.length * Long.BYTES);
    out.putLong(rows).putInt(recordBytes).putInt(shift);
    Arrays.stream(chunkStarts).forEach(out::putLong);
    return out.array();
  }

  /**
   * Parses the form of {@link #toBytes()}.
   *
   * @throws IllegalArgumentException if the bytes have another form
   */
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
