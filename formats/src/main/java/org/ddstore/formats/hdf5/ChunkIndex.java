// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;

/** The places of the chunks of a data set. */
@FunctionalInterface
interface ChunkIndex {
  /** {@return the chunk with an index in each dimension; null if it was never written} */
  Chunk find(long... position) throws IOException;

  /**
   * Numbers chunks in row-major order.
   *
   * @param counts number of chunks in each dimension; that of the first counted does not matter
   * @param first dimension that is counted first, which may grow
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Order(long[] counts, int first) {
    long number(long... position) {
      long number = position[first];
      for (int d = 0; d < counts.length; d++) {
        if (d != first) {
          number = Dataspace.product(number, counts[d]) + position[d];
        }
      }
      return number;
    }
  }

  /** Reads the entry of a chunk in an array of entries. */
  record Entries(int entryBytes, int offsetBytes, boolean isFiltered, long chunkBytes) {
    static Entries of(FileBytes bytes, int entryBytes, int client, long chunkBytes) {
      int unfiltered = bytes.offsetBytes();
      if (client > 1 || (client == 0 ? entryBytes != unfiltered : entryBytes < unfiltered + 5)) {
        throw Hdf5Exception.damaged("entries of chunks have %d bytes".formatted(entryBytes));
      }
      return new Entries(entryBytes, unfiltered, client == 1, chunkBytes);
    }

    Chunk read(Cursor entry) {
      long address = entry.address();
      long size = isFiltered ? entry.unsigned(entryBytes - offsetBytes - 4) : chunkBytes;
      return Chunk.of(address, size, isFiltered ? (int) entry.u32() : 0);
    }
  }
}
