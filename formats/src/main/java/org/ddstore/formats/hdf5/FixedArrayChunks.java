// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;

/** Chunks of a data set that cannot grow: a list of entries, in pages if it is long. */
final class FixedArrayChunks implements ChunkIndex {
  private static final String WHAT = "the array of chunks";

  private final FileBytes bytes;
  private final Order order;
  private final Entries entries;
  private final long count;
  private final long pageEntries;
  private final long block;

  FixedArrayChunks(FileBytes bytes, long address, Order order, long chunkBytes) throws IOException {
    this.bytes = bytes;
    this.order = order;
    int size = 12 + bytes.lengthBytes() + bytes.offsetBytes();
    Cursor header = bytes.checked(WHAT, address, size).signature("FAHD");
    header.version(WHAT, 0, 0);
    int client = header.u8();
    this.entries = Entries.of(bytes, header.u8(), client, chunkBytes);
    int pageBits = header.u8();
    this.count = header.length();
    this.block = header.address();
    if (pageBits >= Integer.SIZE - 1 || count < 0) {
      throw Hdf5Exception.damaged(
          "%s has %,d entries, pages of 2^%d".formatted(WHAT, count, pageBits));
    }
    this.pageEntries = 1L << pageBits;
  }

  @Override
  public Chunk find(long... position) throws IOException {
    long number = order.number(position);
    if (number >= count || number < 0) {
      throw Hdf5Exception.damaged("%s has %,d entries, no %,d".formatted(WHAT, count, number));
    }
    if (block == Cursor.UNDEFINED) {
      return null;
    }
    int prefix = 6 + bytes.offsetBytes();
    if (count <= pageEntries) {
      long size = prefix + count * entries.entryBytes() + FileBytes.CHECKSUM_BYTES;
      Cursor content = bytes.checked(WHAT, block, size).signature("FADB");
      return entries.read(content.seek(prefix + number * entries.entryBytes()));
    }
    long pages = (count + pageEntries - 1) / pageEntries;
    long written = (pages + 7) / 8;
    long page = number / pageEntries;
    Cursor content = bytes.checked(WHAT, block, prefix + written + FileBytes.CHECKSUM_BYTES);
    if ((content.signature("FADB").seek(prefix + page / 8).u8() & 0x80 >> page % 8) == 0) {
      return null;
    }
    long pageBytes = pageEntries * entries.entryBytes() + FileBytes.CHECKSUM_BYTES;
    long at = block + prefix + written + FileBytes.CHECKSUM_BYTES + page * pageBytes;
    long length = Math.min(pageEntries, count - page * pageEntries);
    return entries.read(
        bytes
            .checked(WHAT, at, length * entries.entryBytes() + FileBytes.CHECKSUM_BYTES)
            .skip(number % pageEntries * entries.entryBytes()));
  }
}
