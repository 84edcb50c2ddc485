// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;

/**
 * Chunks of a data set that grows in one dimension. The first entries are in the index block, the
 * next in data blocks that it lists, and all others in data blocks that super blocks list:
 *
 * <pre>
 * super block    0  1  2  3  4  5 ..
 * data blocks    1  1  2  2  4  4 ..
 * entries each   m 2m 2m 4m 4m 8m ..    m is the smallest number of entries of a data block
 * </pre>
 */
final class ExtensibleArrayChunks implements ChunkIndex {
  private static final String WHAT = "the growing array of chunks";

  private final FileBytes bytes;
  private final Order order;
  private final Entries entries;
  private final int offsetBits;
  private final int indexEntries;
  private final int minBlockEntries;
  private final int blockPointers;
  private final long pageEntries;
  private final long indexBlock;

  ExtensibleArrayChunks(FileBytes bytes, long address, Order order, long chunkBytes)
      throws IOException {
    this.bytes = bytes;
    this.order = order;
    int size = 16 + 6 * bytes.lengthBytes() + bytes.offsetBytes();
    Cursor header = bytes.checked(WHAT, address, size).signature("EAHD");
    header.version(WHAT, 0, 0);
    int client = header.u8();
    this.entries = Entries.of(bytes, header.u8(), client, chunkBytes);
    this.offsetBits = header.u8();
    this.indexEntries = header.u8();
    this.minBlockEntries = header.u8();
    this.blockPointers = header.u8();
    int pageBits = header.u8();
    this.indexBlock = header.skip(6L * bytes.lengthBytes()).address();
    if (Integer.bitCount(minBlockEntries) != 1
        || Integer.bitCount(blockPointers) != 1
        || offsetBits >= Long.SIZE
        || pageBits >= Integer.SIZE - 1) {
      throw Hdf5Exception.damaged("%s has illegal sizes".formatted(WHAT));
    }
    this.pageEntries = 1L << pageBits;
  }

  /** Returns the number of data blocks before a super block. */
  private static long blocksBefore(int superBlock) {
    return (1L << (superBlock / 2)) * (2 + superBlock % 2) - 2;
  }

  @Override
  public Chunk find(long... position) throws IOException {
    long number = order.number(position);
    if (indexBlock == Cursor.UNDEFINED) {
      return null;
    }
    int listed = 2 * (blockPointers - 1);
    int direct = 2 * Cursor.log2(blockPointers);
    int supers = Math.max(0, 1 + offsetBits - Cursor.log2(minBlockEntries) - direct);
    int prefix = 6 + bytes.offsetBytes();
    long size =
        prefix
            + (long) indexEntries * entries.entryBytes()
            + (long) (listed + supers) * bytes.offsetBytes()
            + FileBytes.CHECKSUM_BYTES;
    Cursor index = bytes.checked(WHAT, indexBlock, size).signature("EAIB");
    if (number < indexEntries) {
      return entries.read(index.seek(prefix + number * entries.entryBytes()));
    }
    index.seek(prefix + (long) indexEntries * entries.entryBytes());
    long rest = number - indexEntries;
    int superBlock = Cursor.log2(rest / minBlockEntries + 1);
    long blockEntries = (1L << ((superBlock + 1) / 2)) * minBlockEntries;
    long inSuper = rest - ((1L << superBlock) - 1) * minBlockEntries;
    long block = inSuper / blockEntries;
    long inBlock = inSuper % blockEntries;
    if (superBlock < direct) {
      long address = index.skip((blocksBefore(superBlock) + block) * bytes.offsetBytes()).address();
      return inDataBlock(address, blockEntries, inBlock, true);
    }
    if (superBlock - direct >= supers) {
      throw Hdf5Exception.damaged("%s has no entry %,d".formatted(WHAT, number));
    }
    index.skip((long) (listed + superBlock - direct) * bytes.offsetBytes());
    return inSuperBlock(index.address(), superBlock, block, blockEntries, inBlock);
  }

  private int blockPrefix() {
    return 6 + bytes.offsetBytes() + (offsetBits + 7) / 8;
  }

  private Chunk inSuperBlock(
      long address, int superBlock, long block, long blockEntries, long inBlock)
      throws IOException {
    if (address == Cursor.UNDEFINED) {
      return null;
    }
    long blocks = 1L << (superBlock / 2);
    long pages = blockEntries > pageEntries ? blockEntries / pageEntries : 0;
    long written = blocks * ((pages + 7) / 8);
    long size = blockPrefix() + written + blocks * bytes.offsetBytes() + FileBytes.CHECKSUM_BYTES;
    Cursor content = bytes.checked(WHAT, address, size).signature("EASB");
    long page = block * pages + inBlock / pageEntries;
    boolean isWritten =
        pages == 0 || (content.seek(blockPrefix() + page / 8).u8() & 0x80 >> page % 8) != 0;
    content.seek(blockPrefix() + written + block * bytes.offsetBytes());
    return inDataBlock(content.address(), blockEntries, inBlock, isWritten);
  }

  private Chunk inDataBlock(long address, long blockEntries, long inBlock, boolean isWritten)
      throws IOException {
    if (address == Cursor.UNDEFINED || !isWritten) {
      return null;
    }
    int entryBytes = entries.entryBytes();
    if (blockEntries <= pageEntries) {
      long size = blockPrefix() + blockEntries * entryBytes + FileBytes.CHECKSUM_BYTES;
      Cursor content = bytes.checked(WHAT, address, size).signature("EADB");
      return entries.read(content.seek(blockPrefix() + inBlock * entryBytes));
    }
    bytes.checked(WHAT, address, blockPrefix() + FileBytes.CHECKSUM_BYTES).signature("EADB");
    long pageBytes = pageEntries * entryBytes + FileBytes.CHECKSUM_BYTES;
    long page =
        address + blockPrefix() + FileBytes.CHECKSUM_BYTES + inBlock / pageEntries * pageBytes;
    return entries.read(
        bytes.checked(WHAT, page, pageBytes).skip(inBlock % pageEntries * entryBytes));
  }
}
