// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** The links or attributes of an object that has many of them. */
final class FractalHeap {
  private static final int CHECKED_BLOCKS = 1 << 1;
  private static final int HUGE_RECORDS = 1;
  private static final String WHAT = "a fractal heap";

  private final FileBytes bytes;
  private final int idBytes;
  private final int flags;
  private final int offsetBits;
  private final int lengthBytes;
  private final long hugeTree;
  private final int width;
  private final long startBytes;
  private final long directBytes;
  private final long root;
  private final int rootRows;
  private final Set<Long> checkedBlocks = new HashSet<>();
  private long usedBytes;

  FractalHeap(FileBytes bytes, long address) throws IOException {
    this.bytes = bytes;
    int size = 26 + 12 * bytes.lengthBytes() + 3 * bytes.offsetBytes();
    Cursor header = bytes.at(WHAT, address, size).signature("FRHP");
    header.version(WHAT, 0, 0);
    this.idBytes = header.u16();
    if (header.u16() != 0) {
      throw Hdf5Exception.unsupported("a compressed list of links", "copy the file by h5repack");
    }
    bytes.checked(WHAT, address, size);
    this.flags = header.u8();
    long maxManaged = header.u32();
    header.length();
    this.hugeTree = header.address();
    header.length();
    header.address();
    header.skip(8L * bytes.lengthBytes());
    this.width = header.u16();
    this.startBytes = header.length();
    this.directBytes = header.length();
    this.offsetBits = header.u16();
    header.skip(2);
    this.root = header.address();
    this.rootRows = header.u16();
    if (width < 1
        || Long.bitCount(startBytes) != 1
        || Long.bitCount(directBytes) != 1
        || startBytes < 1
        || directBytes < startBytes
        || offsetBits < 1
        || offsetBits > Long.SIZE - 1
        || Long.bitCount(width) != 1
        || maxManaged < 1) {
      throw Hdf5Exception.damaged("%s has illegal sizes".formatted(WHAT));
    }
    this.lengthBytes =
        Math.min((Cursor.log2(directBytes) + 7) / Byte.SIZE, Cursor.log2(maxManaged) / 8 + 1);
  }

  private int offsetBytes() {
    return (offsetBits + 7) / Byte.SIZE;
  }

  /** {@return the object with an identifier from a record of a B-tree} */
  Cursor object(Cursor id) throws IOException {
    Cursor fields = id.part(Math.min(idBytes, id.remaining()));
    int first = fields.u8();
    return switch ((first >> 4) & 3) {
      case 0 -> managed(fields.unsigned(offsetBytes()), fields.unsigned(lengthBytes));
      case 1 -> huge(fields);
      case 2 -> {
        boolean isLong = idBytes > 17;
        int length = (isLong ? ((first & 0xF) << Byte.SIZE) | fields.u8() : first & 0xF) + 1;
        yield fields.part(length);
      }
      default -> throw Hdf5Exception.damaged("%s has an object of an unknown kind".formatted(WHAT));
    };
  }

  private Cursor huge(Cursor id) throws IOException {
    boolean isDirect = bytes.offsetBytes() + bytes.lengthBytes() <= idBytes - 1;
    if (isDirect) {
      return place(id.address(), id.length());
    }
    long key = id.unsigned(Math.min(bytes.lengthBytes(), id.remaining()));
    int placeBytes = bytes.offsetBytes() + bytes.lengthBytes();
    Cursor found =
        BTree2.open(bytes, hugeTree, HUGE_RECORDS)
            .find(record -> Long.compare(key, record.skip(placeBytes).length()));
    if (found == null) {
      throw Hdf5Exception.damaged("an object of %s is missing".formatted(WHAT));
    }
    return place(found.address(), found.length());
  }

  private Cursor managed(long offset, long length) throws IOException {
    long block = root;
    long rows = rootRows;
    long start = 0;
    long blockBytes = startBytes;
    while (rows > 0) {
      long within = offset - start;
      long firstRow = startBytes * width;
      int row = within < firstRow ? 0 : Cursor.log2(within / firstRow) + 1;
      long rowStart = row == 0 ? 0 : firstRow << (row - 1);
      blockBytes = row == 0 ? startBytes : startBytes << (row - 1);
      if (within < 0 || row >= rows || blockBytes < 1) {
        throw Hdf5Exception.damaged("an object is outside %s".formatted(WHAT));
      }
      long column = (within - rowStart) / blockBytes;
      block = child(block, rows, row * (long) width + column);
      start += rowStart + column * blockBytes;
      rows = blockBytes <= directBytes ? 0 : Cursor.log2(blockBytes) - Cursor.log2(firstRow) + 1;
    }
    long at = offset - start;
    if (at < 0 || length < 0 || at > blockBytes - length) {
      throw Hdf5Exception.damaged("an object is outside its block of %s".formatted(WHAT));
    }
    check(block, blockBytes);
    return place(block + at, length);
  }

  /** Reads an object; those of all identifiers together are in the file. */
  private Cursor place(long address, long length) throws IOException {
    usedBytes += Math.max(1, length);
    if (usedBytes > bytes.length()) {
      throw Hdf5Exception.damaged("the objects of %s are larger than the file".formatted(WHAT));
    }
    return bytes.at("an object of " + WHAT, address, length);
  }

  /** Returns the address of a block that an indirect block lists. */
  private long child(long block, long rows, long index) throws IOException {
    long prefix = 5L + bytes.offsetBytes() + offsetBytes();
    long size = prefix + rows * width * bytes.offsetBytes() + FileBytes.CHECKSUM_BYTES;
    Cursor content = bytes.checked(WHAT, block, size).signature("FHIB");
    return content.seek(prefix + index * bytes.offsetBytes()).address();
  }

  private void check(long block, long blockBytes) throws IOException {
    if (!checkedBlocks.add(block)) {
      return;
    }
    bytes.at(WHAT, block, 4).signature("FHDB");
    if ((flags & CHECKED_BLOCKS) != 0) {
      byte[] content = bytes.bytes(WHAT, block, blockBytes);
      int at = 5 + bytes.offsetBytes() + offsetBytes();
      long stored = bytes.cursor(content).skip(at).u32();
      Arrays.fill(content, at, at + FileBytes.CHECKSUM_BYTES, (byte) 0);
      if ((int) stored != Lookup3.of(content, content.length)) {
        throw Hdf5Exception.damaged("the checksum of a block of %s differs".formatted(WHAT));
      }
    }
  }
}
