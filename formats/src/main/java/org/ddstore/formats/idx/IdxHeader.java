// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.idx;

import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.SampleColumn;

/**
 * The header of an array in the IDX format, whose numbers are big-endian:
 *
 * <pre>
 * 0        2      3            4              4 + 4 * dimensions
 * | 0    0 | type | dimensions | length ..    | elements, row-major
 * </pre>
 *
 * @param type type of an element
 * @param shape dimensions, at least one
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record IdxHeader(ElementType type, int... shape) implements Serializable {
  private static final int MAGIC_BYTES = 4;
  private static final Map<Integer, ElementType> TYPES =
      Map.of(
          0x08, ElementType.UINT8,
          0x09, ElementType.INT8,
          0x0B, ElementType.INT16,
          0x0C, ElementType.INT32,
          0x0D, ElementType.FLOAT32,
          0x0E, ElementType.FLOAT64);

  /** Bytes from a position of an array. */
  @FunctionalInterface
  interface Bytes {
    void read(long position, ByteBuffer to) throws IOException;
  }

  static IdxHeader read(String path, Bytes bytes) throws IOException {
    ByteBuffer magic = ByteBuffer.allocate(MAGIC_BYTES);
    bytes.read(0, magic);
    ElementType type = TYPES.get((int) magic.get(2));
    int dimensions = magic.get(3) & 0xFF;
    if (magic.getShort(0) != 0 || type == null || dimensions == 0) {
      throw new FormatException(
          path,
          "not an IDX file: it begins with %08x; expected: 2 bytes of 0, a type of 08, 09, 0b, 0c, 0d or 0e, and the number of dimensions"
              .formatted(magic.getInt(0)));
    }
    ByteBuffer lengths = ByteBuffer.allocate(Integer.BYTES * dimensions);
    bytes.read(MAGIC_BYTES, lengths);
    lengths.flip();
    int[] shape = new int[dimensions];
    for (int i = 0; i < dimensions; i++) {
      shape[i] = lengths.getInt();
      if (shape[i] < 0) {
        throw new FormatException(
            path,
            "dimension %d of %s is above the limit of %,d"
                .formatted(i, Integer.toUnsignedString(shape[i]), Integer.MAX_VALUE));
      }
    }
    return new IdxHeader(type, shape);
  }

  long dataOffset() {
    return MAGIC_BYTES + (long) Integer.BYTES * shape.length;
  }

  int rows() {
    return shape[0];
  }

  /** Returns the size of the file before compression in bytes. */
  long fileBytes(String path) {
    try {
      long bytes = type.bytes();
      for (int length : shape) {
        bytes = Math.multiplyExact(bytes, length);
      }
      return Math.addExact(dataOffset(), bytes);
    } catch (ArithmeticException e) {
      throw new FormatException(path, "shape %s is too large".formatted(Arrays.toString(shape)), e);
    }
  }

  /** Returns the column whose rows are the indices of the first dimension. */
  SampleColumn column(String path, String name) {
    try {
      return SampleColumn.fixed(name, type, Arrays.copyOfRange(shape, 1, shape.length));
    } catch (IllegalArgumentException e) {
      throw new FormatException(
          path, "shape %s: %s".formatted(Arrays.toString(shape), e.getMessage()), e);
    }
  }
}
