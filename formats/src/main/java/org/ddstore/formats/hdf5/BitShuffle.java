// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.nio.ByteBuffer;

/** The filter bitshuffle: bits of the same place in each element of a block lie side by side. */
final class BitShuffle {
  private static final int NO_COMPRESSION = 0;
  private static final int LZ4 = 2;
  private static final int ZSTD = 3;
  private static final int HEADER_BYTES = 12;
  private static final int TARGET_BYTES = 8192;
  private static final int MIN_ELEMENTS = 128;
  private static final int GROUP = 8;

  private BitShuffle() {}

  /**
   * Decodes a chunk.
   *
   * @param limit largest size of the decoded chunk
   * @param blockElements elements of a block; 0 for the default
   * @param compression compression of each block
   */
  static byte[] decode(
      byte[] stored, int limit, int elementBytes, int blockElements, int compression) {
    if (elementBytes < 1 || blockElements < 0 || blockElements % GROUP != 0) {
      throw damaged("elements of %d bytes".formatted(elementBytes));
    }
    long size = stored.length;
    long block = blockElements;
    ByteBuffer from = ByteBuffer.wrap(stored);
    if (compression == LZ4 || compression == ZSTD) {
      if (stored.length < HEADER_BYTES) {
        throw damaged("%d bytes".formatted(stored.length));
      }
      size = from.getLong();
      block = from.getInt() / elementBytes;
    } else if (compression != NO_COMPRESSION) {
      throw Hdf5Exception.unsupported(
          "compression %d of bitshuffle".formatted(compression), "supported are LZ4 and Zstandard");
    }
    if (block == 0) {
      block = Math.max(TARGET_BYTES / elementBytes / GROUP * GROUP, MIN_ELEMENTS);
    }
    if (size < 0 || size > limit || block < GROUP || block % GROUP != 0) {
      throw damaged("%,d bytes in blocks of %,d elements".formatted(size, block));
    }
    byte[] chunk = new byte[(int) size];
    long elements = size / elementBytes;
    int at = 0;
    for (long first = 0; first + GROUP <= elements; ) {
      int count = (int) Math.min(block, (elements - first) / GROUP * GROUP);
      int length = count * elementBytes;
      byte[] shuffled = new byte[length];
      read(from, shuffled, compression);
      transpose(shuffled, count, elementBytes, chunk, at);
      at += length;
      first += count;
    }
    int rest = chunk.length - at; // fewer than 8 elements are neither shuffled nor compressed
    if (from.remaining() < rest) {
      throw damaged("no end");
    }
    from.get(chunk, at, rest);
    return chunk;
  }

  private static Hdf5Exception damaged(String problem) {
    return Hdf5Exception.damaged("a chunk of bitshuffle has " + problem);
  }

  private static void read(ByteBuffer from, byte[] block, int compression) {
    if (compression == LZ4) {
      ChunkCodecs.lz4Block(from, block, 0, block.length, false);
      return;
    }
    int size = block.length;
    if (compression == ZSTD) {
      size = from.remaining() < Integer.BYTES ? -1 : from.getInt();
    }
    if (size < 0 || size > from.remaining()) {
      throw damaged("a block of %,d bytes".formatted(size));
    }
    byte[] content = new byte[size];
    from.get(content);
    byte[] decoded = compression == ZSTD ? ChunkCodecs.zstd(content, block.length) : content;
    if (decoded.length != block.length) {
      throw damaged("a block of %,d bytes".formatted(decoded.length));
    }
    System.arraycopy(decoded, 0, block, 0, block.length);
  }

  /** Bit {@code k} of element {@code i} is bit {@code i} of row {@code k}. */
  private static void transpose(byte[] from, int count, int elementBytes, byte[] to, int at) {
    int rowBytes = count / GROUP;
    for (int bit = 0; bit < elementBytes * Byte.SIZE; bit++) {
      int row = bit * rowBytes;
      int mask = 1 << (bit & 7);
      int place = at + (bit >> 3);
      for (int i = 0; i < rowBytes; i++) {
        int bits = from[row + i];
        for (int k = 0; bits != 0 && k < GROUP; k++) {
          if ((bits >> k & 1) != 0) {
            to[place + (i * GROUP + k) * elementBytes] |= (byte) mask;
          }
        }
      }
    }
  }
}
