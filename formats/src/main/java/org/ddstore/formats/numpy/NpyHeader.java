// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import static java.util.Map.entry;

import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.SampleColumn;

/**
 * The header of an array in the format that NEP 1 of NumPy defines, versions 1 to 3.
 *
 * @param file path of the file, for messages
 * @param type type of an element; complex numbers are two of them
 * @param bigEndian byte order of the elements
 * @param fortran whether the first index varies fastest
 * @param unitElements number of elements of one number: 2 for complex numbers, else 1
 * @param shape dimensions; complex numbers add a last one of 2
 * @param dataOffset position of the first element from the start of the array
 */
@SuppressWarnings("ArrayRecordComponent") // headers are not compared
record NpyHeader(
    String file,
    ElementType type,
    boolean bigEndian,
    boolean fortran,
    int unitElements,
    long[] shape,
    long dataOffset)
    implements Serializable {
  private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
  private static final int MAX_HEADER = 1 << 20;

  /** Letters of NumPy for types that have one size on all platforms. */
  private static final Map<String, String> LETTERS =
      Map.ofEntries(
          entry("?", "b1"),
          entry("b", "i1"),
          entry("B", "u1"),
          entry("h", "i2"),
          entry("H", "u2"),
          entry("i", "i4"),
          entry("I", "u4"),
          entry("q", "i8"),
          entry("Q", "u8"),
          entry("e", "f2"),
          entry("f", "f4"),
          entry("d", "f8"),
          entry("F", "c8"),
          entry("D", "c16"));

  /** Bytes from a position of an array. */
  @FunctionalInterface
  interface Bytes {
    void read(long position, ByteBuffer to) throws IOException;
  }

  /** Reads a header; {@code file} is its path for messages. */
  static NpyHeader read(String file, Bytes bytes) throws IOException {
    ByteBuffer start = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    bytes.read(0, start);
    if (!Arrays.equals(MAGIC, 0, MAGIC.length, start.array(), 0, MAGIC.length)) {
      throw new FormatException(
          file, "not an array of NumPy: the file does not begin with \\x93NUMPY");
    }
    int version = start.get(MAGIC.length);
    if (version < 1 || version > 3) {
      throw new FormatException(
          file,
          "version %d of the format npy is not supported; versions are 1 to 3".formatted(version));
    }
    int lengthBytes = version == 1 ? 2 : 4;
    long length =
        version == 1 ? start.getShort(8) & 0xFFFF : Integer.toUnsignedLong(start.getInt(8));
    if (length > MAX_HEADER) {
      throw new FormatException(
          file, "header: length %,d is above the limit of %,d bytes".formatted(length, MAX_HEADER));
    }
    int from = MAGIC.length + 2 + lengthBytes;
    ByteBuffer text = ByteBuffer.allocate((int) length);
    bytes.read(from, text);
    return parse(
        file,
        new String(
            text.array(), version == 3 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1),
        from + length);
  }

  private static NpyHeader parse(String file, String text, long dataOffset) {
    HeaderText declared = HeaderText.parse(file, text);
    String code = declared.type();
    boolean hasOrder = !code.isEmpty() && "<>=|".indexOf(code.charAt(0)) >= 0;
    String given = hasOrder ? code.substring(1) : code;
    String name = LETTERS.getOrDefault(given, given);
    ElementType type = type(name);
    if (type == null) {
      throw FormatException.of(
          file,
          "dtype",
          "\"%s\" is not supported: convert the array, as in a.astype('float32'); supported are bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 and complex128"
              .formatted(Excerpt.of(code)));
    }
    boolean isComplex = name.charAt(0) == 'c';
    int dimensions = declared.shape().length;
    long[] shape = Arrays.copyOf(declared.shape(), dimensions + (isComplex ? 1 : 0));
    if (isComplex) {
      shape[dimensions] = 2;
    }
    NpyHeader header =
        new NpyHeader(
            file,
            type,
            code.startsWith(">"),
            declared.isFortran(),
            isComplex ? 2 : 1,
            shape,
            dataOffset);
    header.requireLegalShape();
    return header;
  }

  /** Returns the type that {@code f4} or {@code float32} names; null if it is not supported. */
  private static ElementType type(String name) {
    return switch (name) {
      case "c8", "complex64" -> ElementType.FLOAT32;
      case "c16", "complex128" -> ElementType.FLOAT64;
      default -> {
        ElementType type = ElementType.ofCode(name);
        yield type == null ? ElementType.ofName(name) : type;
      }
    };
  }

  private void requireLegalShape() {
    if (Arrays.stream(shape).anyMatch(length -> length < 0)) {
      throw FormatException.of(
          file, "shape", "%s is not the shape of an array".formatted(Arrays.toString(shape)));
    }
    end();
  }

  /** Returns the header of the same elements with a first axis of one row. */
  NpyHeader asOneRow() {
    long[] rows = new long[shape.length + 1];
    rows[0] = 1;
    System.arraycopy(shape, 0, rows, 1, shape.length);
    return new NpyHeader(file, type, bigEndian, fortran, unitElements, rows, dataOffset);
  }

  ByteOrder order() {
    return bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
  }

  long rows() {
    return shape[0];
  }

  /** Returns the position after the last element, which must be below 2<sup>63</sup>. */
  long end() {
    try {
      long bytes = type.bytes();
      for (long length : shape) {
        bytes = Math.multiplyExact(bytes, length);
      }
      return Math.addExact(dataOffset, bytes);
    } catch (ArithmeticException e) {
      throw new FormatException(
          file, "shape: %s is too large for a file".formatted(Arrays.toString(shape)), e);
    }
  }

  /** Returns whether the array is one number, without axes. */
  boolean isNumber() {
    return shape.length == (unitElements > 1 ? 1 : 0);
  }

  /** Returns the exception about an array that is one number. */
  FormatException noRows(String remedy) {
    return FormatException.of(
        file, "shape", "the array is one number and has no axis for rows: " + remedy);
  }

  /** Returns the column whose rows are the indices of the first axis. */
  SampleColumn column(String name) {
    if (isNumber()) {
      throw noRows("use a.reshape(1)");
    }
    int[] row = new int[shape.length - 1];
    try {
      for (int i = 0; i < row.length; i++) {
        row[i] = Math.toIntExact(shape[i + 1]);
      }
      return SampleColumn.fixed(name, type, row);
    } catch (ArithmeticException e) {
      throw new FormatException(
          file,
          "shape: %s: a row has more than %,d elements"
              .formatted(Arrays.toString(shape), Integer.MAX_VALUE),
          e);
    } catch (IllegalArgumentException e) {
      throw new FormatException(
          file, "shape: %s: %s".formatted(Arrays.toString(shape), e.getMessage()), e);
    }
  }
}
