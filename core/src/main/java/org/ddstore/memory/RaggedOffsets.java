package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * The offsets of ragged records: one 64-bit offset per row into the stream of all records, one more
 * for the end of the stream, and the offset of each chunk.
 */
final class RaggedOffsets {
  private final ByteBuffer[] entries;
  private final int entryShift;
  private final long entryMask;
  private final long[] chunkStart;

  /**
   * @param entries buffers of 2^entryShift offsets each; the last one may be shorter
   * @param entryShift log2 of the number of offsets per buffer
   * @param chunkStart stream offset of each chunk, followed by that of the end
   */
  RaggedOffsets(ByteBuffer[] entries, int entryShift, long... chunkStart) {
    this.entries = entries;
    this.entryShift = entryShift;
    this.entryMask = (1L << entryShift) - 1;
    this.chunkStart = chunkStart;
  }

  long[] chunkStarts() {
    return chunkStart;
  }

  SegmentMap map(ByteBuffer version, List<ByteBuffer> chunks) {
    return new SegmentMap(
        version,
        chunks,
        0,
        Arrays.stream(chunkStart).boxed().toList(),
        List.of(entries),
        entryShift);
  }

  private long offset(long row) {
    return entries[(int) (row >>> entryShift)].getLong((int) (row & entryMask) * Long.BYTES);
  }

  long place(long row) {
    long offset = offset(row);
    int low = 0;
    int high = chunkStart.length - 2;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (chunkStart[middle] <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return (long) low << 32 | offset - chunkStart[low];
  }

  int recordBytes(long row) {
    return (int) (offset(row + 1) - offset(row));
  }
}
