// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.util.Arrays;

/** Chunks that a B-tree lists by their positions. */
final class BTreeChunks {
  private static final int UNFILTERED_RECORDS = 10;
  private static final int FILTERED_RECORDS = 11;
  private static final String WHAT = "the index of chunks";

  private BTreeChunks() {}

  /** Opens an index in the form of HDF5 before 1.10. */
  static ChunkIndex old(FileBytes bytes, long root, long... chunk) {
    return position -> {
      long[] wanted = new long[chunk.length];
      for (int d = 0; d < wanted.length; d++) {
        wanted[d] = position[d] * chunk[d];
      }
      return find(bytes, root, wanted);
    };
  }

  private static Chunk find(FileBytes bytes, long root, long... wanted) throws IOException {
    int header = 8 + 2 * bytes.offsetBytes();
    int keyBytes = 8 + Long.BYTES * (wanted.length + 1);
    long address = root;
    for (int parentLevel = 1 << Byte.SIZE; ; ) {
      Cursor node = bytes.at(WHAT, address, header).signature("TREE");
      if (node.u8() != 1) {
        throw Hdf5Exception.damaged("%s has a node of another kind".formatted(WHAT));
      }
      int level = node.u8();
      int count = node.u16();
      if (level >= parentLevel) {
        throw Hdf5Exception.damaged("%s has a node of level %d".formatted(WHAT, level));
      }
      int entryBytes = keyBytes + bytes.offsetBytes();
      Cursor entries = bytes.at(WHAT, address + header, (long) count * entryBytes);
      Chunk last = null;
      long[] lastKey = null;
      for (int i = 0; i < count; i++) {
        Cursor entry = entries.part(entryBytes);
        long size = entry.u32();
        int mask = (int) entry.u32();
        long[] key = new long[wanted.length];
        for (int d = 0; d < key.length; d++) {
          key[d] = entry.unsigned(Long.BYTES);
        }
        if (Arrays.compare(key, wanted) > 0) {
          break;
        }
        lastKey = key;
        last = new Chunk(entry.skip(Long.BYTES).address(), size, mask);
      }
      if (last == null || level == 0) {
        return last == null || !Arrays.equals(lastKey, wanted) ? null : last;
      }
      address = last.address();
      parentLevel = level;
    }
  }

  /** Opens an index in the form of HDF5 1.10; {@code chunkBytes} is the size without filters. */
  static ChunkIndex open(
      FileBytes bytes, long address, boolean isFiltered, long chunkBytes, int rank)
      throws IOException {
    int type = isFiltered ? FILTERED_RECORDS : UNFILTERED_RECORDS;
    BTree2 tree = BTree2.open(bytes, address, type);
    int positionBytes = Long.BYTES * rank;
    int placeBytes = tree.recordBytes() - positionBytes;
    int sizeBytes = placeBytes - bytes.offsetBytes() - 4;
    if (isFiltered ? sizeBytes < 1 || sizeBytes > Long.BYTES : placeBytes != bytes.offsetBytes()) {
      throw Hdf5Exception.damaged("%s has records of %d bytes".formatted(WHAT, tree.recordBytes()));
    }
    return position -> {
      Cursor entry =
          tree.find(
              stored -> {
                stored.skip(placeBytes);
                for (int d = 0; d < rank; d++) {
                  int order = Long.compare(position[d], stored.unsigned(Long.BYTES));
                  if (order != 0) {
                    return order;
                  }
                }
                return 0;
              });
      if (entry == null) {
        return null;
      }
      long place = entry.address();
      long size = isFiltered ? entry.unsigned(sizeBytes) : chunkBytes;
      return Chunk.of(place, size, isFiltered ? (int) entry.u32() : 0);
    };
  }
}
