// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * The memory layout of a segment, for transports whose peers read it without the owner. The buffers
 * belong to the segment, are valid as long as a reference to it is held, and are read by absolute
 * position only.
 *
 * @param version little-endian word of {@link Segment#version()}, 8 bytes
 * @param chunks packed records
 * @param rowShift log2 of the rows per chunk, for fixed records
 * @param chunkStarts for ragged records, the offset of each chunk and of the end; else empty
 * @param offsets for ragged records, little-endian int64 offsets of each record and of the end,
 *     2^{@code offsetShift} per buffer; else empty
 * @param offsetShift log2 of the offsets per buffer
 */
public record SegmentMap(
    ByteBuffer version,
    List<ByteBuffer> chunks,
    int rowShift,
    List<Long> chunkStarts,
    List<ByteBuffer> offsets,
    int offsetShift) {
  public SegmentMap {
    chunks = List.copyOf(chunks);
    chunkStarts = List.copyOf(chunkStarts);
    offsets = List.copyOf(offsets);
  }

  /**
   * Returns the chunk that contains an offset of the stream of ragged records.
   *
   * @param starts offset of each chunk, followed by that of the end
   */
  public static int chunkOf(long[] starts, long offset) {
    int low = 0;
    int high = starts.length - 2;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (starts[middle] <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}
