// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.util.Arrays;

/** The place of the elements of a data set: in its header, side by side, or in chunks. */
final class Layout {
  private static final int COMPACT = 0;
  private static final int CONTIGUOUS = 1;
  private static final int CHUNKED = 2;
  private static final int VIRTUAL = 3;
  private static final int SINGLE = 1;
  private static final int IMPLICIT = 2;
  private static final int FIXED_ARRAY = 3;
  private static final int EXTENSIBLE_ARRAY = 4;
  private static final int BTREE = 5;
  private static final String COPY =
      "read it with h5py, and write it as a data set of its own, or leave it out by the options";

  private final FileBytes bytes;
  private final Dataspace space;
  private final int elementBytes;
  private final boolean isFiltered;

  private byte[] compact;
  private long address = Cursor.UNDEFINED;
  private long contiguousBytes;
  private long[] chunk;
  private boolean isEdgeUnfiltered;
  private ChunkIndex index;

  private Layout(FileBytes bytes, Dataspace space, int elementBytes, boolean isFiltered) {
    this.bytes = bytes;
    this.space = space;
    this.elementBytes = elementBytes;
    this.isFiltered = isFiltered;
  }

  static Layout read(
      FileBytes bytes, ObjectHeader header, Dataspace space, int elementBytes, boolean isFiltered)
      throws IOException {
    if (header.has(ObjectHeader.EXTERNAL_FILES)) {
      throw Hdf5Exception.unsupported("data in external raw files", COPY);
    }
    Cursor message = header.message(ObjectHeader.LAYOUT);
    if (message == null) {
      throw Hdf5Exception.damaged("the data set has no layout");
    }
    Layout layout = new Layout(bytes, space, elementBytes, isFiltered);
    int version = message.version("layout", 1, 4);
    if (version < 3) {
      layout.readOld(message);
    } else {
      layout.readNew(message, version);
    }
    return layout;
  }

  private static Hdf5Exception unknown(int kind) {
    return kind == VIRTUAL
        ? Hdf5Exception.unsupported("a virtual data set, made of parts of others,", COPY)
        : Hdf5Exception.damaged("layout %d".formatted(kind));
  }

  private void readOld(Cursor message) {
    int dimensions = message.u8();
    int kind = message.u8();
    message.skip(5);
    if (kind != COMPACT) {
      address = message.address();
    }
    if (kind == CHUNKED) {
      readChunk(message, dimensions, Integer.BYTES);
      index = oldIndex();
      return;
    }
    message.skip((long) dimensions * Integer.BYTES);
    if (kind == COMPACT) {
      compact = message.take(message.u32());
    } else if (kind == CONTIGUOUS) {
      contiguousBytes = Long.MAX_VALUE; // not in this version
    } else {
      throw unknown(kind);
    }
  }

  private void readNew(Cursor message, int version) throws IOException {
    int kind = message.u8();
    switch (kind) {
      case COMPACT -> compact = message.take(message.u16());
      case CONTIGUOUS -> {
        address = message.address();
        contiguousBytes = message.length();
      }
      case CHUNKED -> {
        if (version == 3) {
          int dimensions = message.u8();
          address = message.address();
          readChunk(message, dimensions, Integer.BYTES);
          index = oldIndex();
        } else {
          readIndexed(message);
        }
      }
      default -> throw unknown(kind);
    }
  }

  /** Reads the dimensions of a chunk, the last of which is the size of an element. */
  private void readChunk(Cursor message, int dimensions, int width) {
    if (dimensions != space.shape().length + 1 || width < 1 || width > Long.BYTES) {
      throw Hdf5Exception.damaged(
          "%d dimensions of chunks, the data set has %d"
              .formatted(dimensions - 1, space.shape().length));
    }
    long[] lengths = new long[dimensions];
    for (int d = 0; d < dimensions; d++) {
      lengths[d] = message.unsigned(width);
      if (lengths[d] < 1) {
        throw Hdf5Exception.damaged("chunks of %s".formatted(Arrays.toString(lengths)));
      }
    }
    chunk = Arrays.copyOf(lengths, dimensions - 1);
    if (lengths[dimensions - 1] != elementBytes) {
      throw Hdf5Exception.damaged(
          "chunks have elements of %,d bytes, the type has %,d"
              .formatted(lengths[dimensions - 1], elementBytes));
    }
  }

  private ChunkIndex oldIndex() {
    return address == Cursor.UNDEFINED ? position -> null : BTreeChunks.old(bytes, address, chunk);
  }

  private void readIndexed(Cursor message) throws IOException {
    int flags = message.u8();
    isEdgeUnfiltered = (flags & 1) != 0;
    int dimensions = message.u8();
    readChunk(message, dimensions, message.u8());
    long chunkBytes = Dataspace.product(elementBytes, chunk);
    int type = message.u8();
    Chunk single = null;
    switch (type) {
      case SINGLE -> {
        boolean hasSize = (flags & 2) != 0;
        long size = hasSize ? message.length() : chunkBytes;
        int mask = hasSize ? (int) message.u32() : 0;
        single = Chunk.of(message.address(), size, mask);
      }
      case IMPLICIT -> address = message.address();
      case FIXED_ARRAY -> address = message.skip(1).address();
      case EXTENSIBLE_ARRAY -> address = message.skip(5).address();
      case BTREE -> address = message.skip(6).address();
      default ->
          throw Hdf5Exception.unsupported(
              "index %d of chunks".formatted(type), "copy the file by an older HDF5");
    }
    index = type == SINGLE ? constant(single) : newIndex(type, chunkBytes);
  }

  private static ChunkIndex constant(Chunk chunk) {
    return position -> chunk;
  }

  private ChunkIndex newIndex(int type, long chunkBytes) throws IOException {
    if (address == Cursor.UNDEFINED) {
      return constant(null);
    }
    long[] maximum = space.maximum();
    long[] counts = new long[chunk.length];
    int growing = 0;
    for (int d = 0; d < counts.length; d++) {
      boolean isUnlimited = maximum[d] == Cursor.UNDEFINED;
      growing = isUnlimited ? d : growing;
      counts[d] = isUnlimited ? 0 : (maximum[d] - 1) / chunk[d] + 1;
    }
    return switch (type) {
      case IMPLICIT -> {
        ChunkIndex.Order order = new ChunkIndex.Order(counts, 0);
        yield position ->
            new Chunk(
                address + Dataspace.product(order.number(position), chunkBytes), chunkBytes, 0);
      }
      case FIXED_ARRAY ->
          new FixedArrayChunks(bytes, address, new ChunkIndex.Order(counts, 0), chunkBytes);
      case EXTENSIBLE_ARRAY ->
          new ExtensibleArrayChunks(
              bytes, address, new ChunkIndex.Order(counts, growing), chunkBytes);
      default -> BTreeChunks.open(bytes, address, isFiltered, chunkBytes, chunk.length);
    };
  }

  /** {@return the elements, if they are in the header; else null} */
  byte[] compact() {
    return compact;
  }

  /** {@return the place of elements side by side; {@link Cursor#UNDEFINED} if there are none} */
  long address() {
    return address;
  }

  /** {@return the size of elements side by side} */
  long contiguousBytes() {
    return contiguousBytes;
  }

  /** {@return the dimensions of a chunk; null without chunks} */
  long[] chunk() {
    return chunk;
  }

  /** {@return whether chunks that the data set does not fill are stored without filters} */
  boolean isEdgeUnfiltered() {
    return isEdgeUnfiltered;
  }

  ChunkIndex index() {
    return index;
  }
}
