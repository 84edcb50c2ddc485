// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteOrder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.formats.ElementType;

/**
 * The type of the elements of an array.
 *
 * @param element type of an element; complex numbers are two of them
 * @param form form of an element in a chunk
 * @param bytes size of an element in a chunk in bytes; 0 for texts of varying length
 * @param bigEndian byte order in a chunk
 */
record ZarrType(ElementType element, Form form, int bytes, boolean bigEndian) {
  private static final int MAX_TEXT_BYTES = 1 << 20;
  private static final Pattern V2_CODE = Pattern.compile("([<>|])([a-zA-Z])(\\d*)");

  /** The form of an element in a chunk. */
  enum Form {
    NUMBER,
    /** Two numbers: the real and the imaginary part. */
    COMPLEX,
    /** Text of a fixed number of UTF-32 code units, padded with zeros. */
    UTF32,
    /** Text of a fixed number of bytes of UTF-8, padded with zeros. */
    BYTES,
    /** Text of varying length, in the layout of {@code vlen-utf8}. */
    TEXT
  }

  /** Returns the type that a {@code dtype} of version 2 names. */
  static ZarrType v2(JsonNode dtype) throws Unsupported {
    Matcher code = V2_CODE.matcher(dtype.isTextual() ? dtype.textValue() : "");
    if (!code.matches()) {
      throw unsupported(dtype);
    }
    boolean bigEndian = code.group(1).equals(">");
    String name = code.group(2) + code.group(3);
    ElementType number = ElementType.ofCode(name);
    if (number != null) {
      return new ZarrType(number, Form.NUMBER, number.bytes(), bigEndian);
    }
    return switch (name) {
      case "c8" -> new ZarrType(ElementType.FLOAT32, Form.COMPLEX, 8, bigEndian);
      case "c16" -> new ZarrType(ElementType.FLOAT64, Form.COMPLEX, 16, bigEndian);
      case "O" -> new ZarrType(ElementType.TEXT, Form.TEXT, 0, false);
      default -> v2Text(dtype, code.group(2), code.group(3), bigEndian);
    };
  }

  private static ZarrType v2Text(JsonNode dtype, String kind, String length, boolean bigEndian)
      throws Unsupported {
    boolean isText = (kind.equals("U") || kind.equals("S")) && length.matches("[1-9]\\d{0,6}");
    if (!isText) {
      throw unsupported(dtype);
    }
    int units = Integer.parseInt(length);
    return kind.equals("U")
        ? fixedText(dtype, Form.UTF32, 4L * units, bigEndian)
        : fixedText(dtype, Form.BYTES, units, bigEndian);
  }

  /** Returns the type that a {@code data_type} of version 3 names, in little-endian order. */
  static ZarrType v3(JsonNode dataType) throws Unsupported {
    String name = dataType.isTextual() ? dataType.textValue() : dataType.path("name").asText();
    ElementType number = ElementType.ofName(name);
    if (number != null) {
      return new ZarrType(number, Form.NUMBER, number.bytes(), false);
    }
    long length = dataType.path("configuration").path("length_bytes").asLong();
    return switch (name) {
      case "complex64" -> new ZarrType(ElementType.FLOAT32, Form.COMPLEX, 8, false);
      case "complex128" -> new ZarrType(ElementType.FLOAT64, Form.COMPLEX, 16, false);
      case "string" -> new ZarrType(ElementType.TEXT, Form.TEXT, 0, false);
      case "fixed_length_utf32" -> fixedText(dataType, Form.UTF32, length, false);
      case "null_terminated_bytes" -> fixedText(dataType, Form.BYTES, length, false);
      default -> throw unsupported(dataType);
    };
  }

  private static ZarrType fixedText(JsonNode type, Form form, long bytes, boolean bigEndian)
      throws Unsupported {
    if (bytes < 1 || bytes > MAX_TEXT_BYTES || (form == Form.UTF32 && bytes % 4 != 0)) {
      throw unsupported(type);
    }
    return new ZarrType(ElementType.TEXT, form, (int) bytes, bigEndian);
  }

  private static Unsupported unsupported(JsonNode type) {
    return new Unsupported(
        "data type",
        "%s is not supported: supported are bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128, and text"
            .formatted(type));
  }

  ZarrType withOrder(boolean isBigEndian) {
    return new ZarrType(element, form, bytes, isBigEndian);
  }

  ByteOrder order() {
    return bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
  }

  boolean isText() {
    return element == ElementType.TEXT;
  }
}
