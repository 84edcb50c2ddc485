package org.ddstore.memory;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Where the parts of a segment lie, for those who let others read them without asking. The buffers
 * are the segment's own, valid as long as a reference to it is held, and read by position only.
 *
 * @param version 8 bytes, little-endian: the word of {@link Segment#version()}
 * @param chunks the packed records
 * @param rowShift log2 of the rows of a chunk, for fixed records
 * @param chunkStarts for ragged records: the offset at which each chunk begins, then the end; else
 *     empty
 * @param offsets for ragged records: int64 offsets of each record and the end, little-endian,
 *     2^{@code offsetShift} a buffer; else empty
 * @param offsetShift log2 of the offsets of a buffer
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
}
