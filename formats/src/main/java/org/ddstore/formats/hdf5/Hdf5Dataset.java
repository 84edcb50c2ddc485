// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.ReadBudget;
import org.ddstore.types.Internal;

/**
 * A data set of one or two dimensions, read by rows. A chunk that continues after a slice is kept
 * decoded for the next slice, so reads in ascending order decode each chunk once. Not thread-safe.
 */
@Internal
public final class Hdf5Dataset {
  private static final long UNDEFINED_SIZE = 0xFFFFFFFFL;

  private final Hdf5File file;
  private final FileBytes bytes;
  private final String path;
  private final GlobalHeap heap;
  private final Datatype type;
  private final long[] shape;
  private final Layout layout;
  private final FilterPipeline filters;
  private final byte[] fill;
  private final Map<Long, byte[]> band = new HashMap<>();
  private long bandIndex = -1;

  /**
   * Opens a data set.
   *
   * @param file file that the caller has opened, for messages and failures
   * @param object data set, which may be in another file
   * @param path path of the data set in the file that the caller has opened
   */
  Hdf5Dataset(Hdf5File file, Hdf5Object object, String path) throws IOException {
    this.file = file;
    this.bytes = object.bytes();
    this.path = path;
    this.heap = object.heap();
    ObjectHeader header = object.header();
    Cursor space = header.message(ObjectHeader.DATASPACE);
    Cursor message = header.message(ObjectHeader.DATATYPE);
    if (space == null || message == null) {
      throw Hdf5Exception.damaged("the data set has no shape or no type");
    }
    Dataspace dimensions = Dataspace.read(space);
    this.type = Datatype.read(message);
    this.shape = dimensions.shape();
    for (long length : shape) {
      if (length < 0) {
        throw Hdf5Exception.damaged("the shape is %s".formatted(Arrays.toString(shape)));
      }
    }
    this.filters = FilterPipeline.read(header.message(ObjectHeader.FILTERS));
    this.layout = Layout.read(bytes, header, dimensions, type.bytes(), !filters.isEmpty());
    this.fill = fill(header);
  }

  /** Returns the value of elements that were never written; null for zeros. */
  private byte[] fill(ObjectHeader header) throws IOException {
    Cursor message = header.message(ObjectHeader.FILL);
    byte[] value = null;
    if (message == null) {
      message = header.message(ObjectHeader.OLD_FILL);
      value = message == null ? null : value(message);
    } else {
      int version = message.version("fill value", 1, 3);
      boolean isDefined;
      if (version == 3) {
        isDefined = (message.u8() & 1 << 5) != 0;
      } else {
        isDefined = message.skip(2).u8() != 0 || version == 1;
      }
      value = isDefined && message.remaining() > 0 ? value(message) : null;
    }
    if (value == null || value.length == 0) {
      return null;
    }
    if (value.length != type.bytes()) {
      throw Hdf5Exception.damaged(
          "the fill value has %,d bytes, an element %,d".formatted(value.length, type.bytes()));
    }
    return Arrays.equals(value, new byte[value.length]) ? null : value;
  }

  private static byte[] value(Cursor message) {
    long size = message.u32();
    return size == UNDEFINED_SIZE ? null : message.take(size);
  }

  /** {@return the dimensions; none for a single value} */
  public long[] shape() {
    return shape.clone();
  }

  /**
   * {@return the type of the elements}
   *
   * @throws org.ddstore.formats.FormatException if it is not supported; it names path and type
   */
  public ElementType type() {
    return file.guardUnchecked(path, type::element);
  }

  /** {@return the number of rows that are decoded together; 1 if each can be read alone} */
  public int runRows() {
    boolean isChunked = layout.chunk() != null && shape.length > 0;
    return isChunked
        ? (int) Math.max(1, Math.min(Integer.MAX_VALUE, Math.min(layout.chunk()[0], shape[0])))
        : 1;
  }

  /**
   * Reads texts of a data set of one dimension.
   *
   * @param from first row
   * @param count number of rows, at least 1
   */
  public String[] texts(long from, int count) throws IOException {
    return file.guard(path, () -> readTexts(from, count));
  }

  private String[] readTexts(long from, int count) throws IOException {
    type.element();
    ReadBudget.requireHeld(file.path(), path, count * ReadBudget.TEXT_BYTES);
    return heap.texts(path, type, count, read(from, count, null).array());
  }

  /**
   * Reads elements.
   *
   * @param from first row
   * @param count number of rows, at least 1
   * @param last buffer that an earlier read of this array returned, whose content is lost; or null
   * @return the elements, row-major, from position 0 in the order of the buffer
   */
  public ByteBuffer bytes(long from, int count, ByteBuffer last) throws IOException {
    return file.guard(path, () -> read(from, count, last)).order(type.order());
  }

  private ByteBuffer read(long from, int count, ByteBuffer last) throws IOException {
    if (shape.length < 1 || shape.length > 2) {
      throw Hdf5Exception.of(
          "has the shape %s; supported are one and two dimensions"
              .formatted(Arrays.toString(shape)));
    }
    long size = Dataspace.product(count, rowLength(), type.bytes());
    if (from < 0 || count < 0 || from > shape[0] - count || size > ReadBudget.MAX_ARRAY_LENGTH) {
      throw Hdf5Exception.of(
          "rows [%,d, %,d) of %,d bytes; there are %,d rows, and one read has at most 2 GiB"
              .formatted(from, from + count, size, shape[0]));
    }
    if (size > bytes.length()) {
      ReadBudget.requireClaim(file.path(), path, size);
    } else {
      ReadBudget.requireHeld(file.path(), path, size);
    }
    boolean isReused = last != null && last.capacity() >= size && isStoredSideBySide();
    ByteBuffer target = isReused ? last.clear().limit((int) size) : ByteBuffer.allocate((int) size);
    if (layout.chunk() != null) {
      readChunks(from, count, target.array());
    } else if (layout.compact() != null) {
      readCompact(from, target);
    } else {
      readContiguous(from, target);
    }
    return target.position(0).limit((int) size);
  }

  private boolean isStoredSideBySide() {
    return layout.chunk() == null
        && layout.compact() == null
        && layout.address() != Cursor.UNDEFINED;
  }

  private long rowLength() {
    return shape.length == 2 ? shape[1] : 1;
  }

  private long rowBytes() {
    return Dataspace.product(rowLength(), type.bytes());
  }

  private void readCompact(long from, ByteBuffer target) {
    long start = Dataspace.product(from, rowBytes());
    if (start > layout.compact().length - target.remaining()) {
      throw Hdf5Exception.damaged("the data set has %,d bytes".formatted(layout.compact().length));
    }
    target.put(layout.compact(), (int) start, target.remaining());
  }

  private void readContiguous(long from, ByteBuffer target) throws IOException {
    if (layout.address() == Cursor.UNDEFINED) {
      fill(target.array(), target.arrayOffset() + target.position(), target.remaining());
      return;
    }
    long start = Dataspace.product(from, rowBytes());
    if (start > layout.contiguousBytes() - target.remaining()) {
      throw Hdf5Exception.damaged(
          "the data set has %,d bytes, its shape is %s"
              .formatted(layout.contiguousBytes(), Arrays.toString(shape)));
    }
    bytes.read("the data set", layout.address() + start, target);
  }

  private void fill(byte[] target, int at, int length) {
    for (int i = 0; fill != null && i < length; i++) {
      target[at + i] = fill[i % fill.length];
    }
  }

  private void readChunks(long from, int count, byte... target) throws IOException {
    long height = layout.chunk()[0];
    long width = shape.length == 2 ? layout.chunk()[1] : 1;
    long chunks =
        ((rowLength() - 1) / width + 1) * ((from + count - 1) / height - from / height + 1);
    if (chunks > ReadBudget.MAX_CHUNKS) {
      throw Hdf5Exception.of(
          "%,d rows are in %,d chunks, more than the limit of %,d: write it with larger chunks"
              .formatted(count, chunks, ReadBudget.MAX_CHUNKS));
    }
    for (long index = from / height; index * height < from + count; index++) {
      long top = index * height;
      long first = Math.max(from, top);
      long last = Math.min(from + count, top + Math.min(height, shape[0] - top));
      boolean isContinued = last < Math.min(top + height, shape[0]);
      if (bandIndex != index) {
        band.clear();
        bandIndex = index;
      }
      for (long column = 0; column * width < rowLength(); column++) {
        byte[] decoded = decoded(index, column, isContinued);
        long left = column * width;
        int length = (int) (Math.min(width, rowLength() - left) * type.bytes());
        for (long row = first; row < last; row++) {
          int to = (int) (((row - from) * rowLength() + left) * type.bytes());
          if (decoded == null) {
            fill(target, to, length);
          } else {
            int at = (int) ((row - top) * width * type.bytes());
            System.arraycopy(decoded, at, target, to, length);
          }
        }
      }
      if (!isContinued) {
        band.clear();
      }
    }
  }

  /** Returns a chunk; null if it was never written. */
  private byte[] decoded(long index, long column, boolean keep) throws IOException {
    byte[] kept = band.get(column);
    if (kept != null) {
      return kept;
    }
    long[] position = shape.length == 2 ? new long[] {index, column} : new long[] {index};
    Chunk chunk = layout.index().find(position);
    if (chunk == null) {
      return null;
    }
    byte[] decoded = decode(chunk, position);
    if (keep) {
      ReadBudget.requireHeld(
          file.path(), path + ", the chunks of a row", (band.size() + 1L) * decoded.length);
      band.put(column, decoded);
    }
    return decoded;
  }

  private byte[] decode(Chunk chunk, long... position) throws IOException {
    long chunkBytes = Dataspace.product(type.bytes(), layout.chunk());
    if (chunkBytes > ReadBudget.MAX_ARRAY_LENGTH) {
      throw Hdf5Exception.of("a chunk has %,d bytes, at most 2 GiB are read".formatted(chunkBytes));
    }
    boolean isRaw = filters.isEmpty() || (layout.isEdgeUnfiltered() && isEdge(position));
    int mask = isRaw ? -1 : chunk.mask();
    String what = "the chunk at %s".formatted(Arrays.toString(position));
    filters.requireBacked(file.path(), path + ", " + what, chunk.storedBytes(), mask, chunkBytes);
    byte[] stored = bytes.bytes(what, chunk.address(), chunk.storedBytes());
    byte[] decoded = filters.decode(stored, mask, (int) chunkBytes, type.bytes());
    if (decoded.length < chunkBytes) {
      throw Hdf5Exception.damaged(
          "%s has %,d bytes instead of %,d".formatted(what, decoded.length, chunkBytes));
    }
    return decoded;
  }

  private boolean isEdge(long... position) {
    for (int d = 0; d < position.length; d++) {
      if (position[d] > shape[d] / layout.chunk()[d] - 1) {
        return true;
      }
    }
    return false;
  }
}
