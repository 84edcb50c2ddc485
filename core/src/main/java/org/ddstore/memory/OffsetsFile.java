// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.List;

/**
 * The format of the offsets file of a ragged segment, little-endian:
 *
 * <pre>
 *    0  u64  magic "DDSTOFS1"
 *    8  u128 nonce of the segment
 *   24  u64  rows
 *   32  u32  chunks
 * 4096  u64  offset of each record in the stream of records, then of their end (rows + 1)
 *       u64  offset at which each chunk begins, then of the end (chunks + 1)
 * </pre>
 */
final class OffsetsFile {
  static final int HEADER_BYTES = SegmentHeader.PAGE_BYTES;
  private static final long MAGIC = 0x3153464F54534444L;

  /** log2 of the number of offsets in one mapped buffer of 1 GiB. */
  private static final int ENTRY_SHIFT = 27;

  private OffsetsFile() {}

  static ByteBuffer header(SegmentHeader segment, int chunks) {
    ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    out.putLong(0, MAGIC);
    segment.nonce().write(out, 8);
    out.putLong(24, segment.rows());
    out.putInt(32, chunks);
    return out;
  }

  /** Maps the offsets of {@code segment} and adds the mapped regions to {@code regions}. */
  static Segment.RaggedOffsets map(
      SegmentHeader segment, FileChannel channel, List<MappedRegion> regions) throws IOException {
    ByteBuffer header = read(channel, 0, HEADER_BYTES);
    if (header.getLong(0) != MAGIC || !Nonce.read(header, 8).equals(segment.nonce())) {
      throw new IOException("the offsets file belongs to another segment");
    }
    long entries = segment.rows() + 1;
    int chunks = header.getInt(32);
    if (header.getLong(24) != segment.rows() || chunks < 0 || chunks > segment.rows()) {
      throw new IOException(
          "the offsets file is for %,d rows in %,d chunks; the segment has %,d rows"
              .formatted(header.getLong(24), chunks, segment.rows()));
    }
    long[] chunkStart = readChunkStarts(segment, channel, ChunkLayout.checkChunks(chunks));
    int buffers = (int) ((entries + (1L << ENTRY_SHIFT) - 1) >>> ENTRY_SHIFT);
    ByteBuffer[] mapped = new ByteBuffer[buffers];
    for (int i = 0; i < buffers; i++) {
      long first = (long) i << ENTRY_SHIFT;
      MappedRegion region =
          MappedRegion.map(
              channel,
              FileChannel.MapMode.READ_ONLY,
              HEADER_BYTES + first * Long.BYTES,
              Math.min(1L << ENTRY_SHIFT, entries - first) * Long.BYTES);
      regions.add(region);
      mapped[i] = region.buffer();
    }
    return new Segment.RaggedOffsets(mapped, ENTRY_SHIFT, chunkStart);
  }

  private static long[] readChunkStarts(SegmentHeader segment, FileChannel channel, int chunks)
      throws IOException {
    int bytes = (chunks + 1) * Long.BYTES;
    if ((channel.size() - HEADER_BYTES - bytes) / Long.BYTES <= segment.rows()) {
      throw new IOException(
          "the offsets file has %,d bytes, too few for %,d rows in %,d chunks"
              .formatted(channel.size(), segment.rows(), chunks));
    }
    long position = HEADER_BYTES + (segment.rows() + 1) * Long.BYTES;
    long[] starts = new long[chunks + 1];
    read(channel, position, bytes).asLongBuffer().get(starts);
    boolean consistent = starts[0] == 0 && starts[chunks] == segment.dataBytes();
    for (int i = 0; i < chunks; i++) {
      long length = starts[i + 1] - starts[i];
      consistent &= length > 0 && length <= ChunkLayout.MAX_BYTES;
    }
    if (!consistent) {
      throw new IOException(
          "the chunks %s of the offsets file do not add up to %,d bytes"
              .formatted(Arrays.toString(starts), segment.dataBytes()));
    }
    return starts;
  }

  static ByteBuffer read(FileChannel channel, long position, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes, position + bytes.position()) < 0) {
        throw new IOException("the file ends at byte " + (position + bytes.position()));
      }
    }
    return bytes.flip();
  }
}
