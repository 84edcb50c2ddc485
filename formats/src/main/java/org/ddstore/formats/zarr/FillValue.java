// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import org.ddstore.formats.ElementType;

/** The value of the elements of missing chunks, in the form that decoded chunks have. */
record FillValue(ZarrType type, boolean isBase64) {
  /** More than an integer of 64 bits has. */
  private static final int MAX_DIGITS = 40;

  /** Returns the bytes of an element, a {@code String[]} of one text, or null for no value. */
  static Object parse(JsonNode value, ZarrType type, int version) throws Unsupported {
    if (value.isNull() || value.isMissingNode()) {
      return null;
    }
    try {
      boolean isBase64 = version == 2 && type.form() == ZarrType.Form.BYTES;
      return new FillValue(type, isBase64).encode(value);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new Unsupported(
          "fill_value",
          "%s is not a value of the data type: change it in the metadata, to null if every chunk has a file"
              .formatted(value));
    }
  }

  private Object encode(JsonNode value) {
    if (type.isText()) {
      return new String[] {text(value)};
    }
    ByteBuffer bytes = ByteBuffer.allocate(type.bytes()).order(type.order());
    if (type.form() == ZarrType.Form.COMPLEX) {
      boolean isPair = value.isArray() && value.size() == 2;
      put(bytes, isPair ? value.get(0) : value);
      if (isPair) {
        put(bytes, value.get(1));
      } // the imaginary part of a number is 0
    } else {
      put(bytes, value);
    }
    return bytes.clear();
  }

  private String text(JsonNode value) {
    if (value.isNumber() && value.asDouble() == 0) {
      return ""; // older writers fill texts with 0
    }
    if (!value.isTextual()) {
      throw new IllegalArgumentException("not a text");
    }
    String text = value.textValue();
    return isBase64
        ? FixedText.trim(new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8))
        : text;
  }

  private void put(ByteBuffer to, JsonNode value) {
    switch (type.element()) {
      case BOOL -> to.put((byte) (flag(value) ? 1 : 0));
      case INT8, UINT8 -> to.put((byte) integer(value));
      case INT16, UINT16 -> to.putShort((short) integer(value));
      case INT32, UINT32 -> to.putInt((int) integer(value));
      case INT64, UINT64 -> to.putLong(integer(value));
      case FLOAT16 -> to.putShort((short) bits(value, ElementType.FLOAT16));
      case FLOAT32 -> to.putInt((int) bits(value, ElementType.FLOAT32));
      case FLOAT64 -> to.putLong(bits(value, ElementType.FLOAT64));
      case TEXT -> throw new IllegalArgumentException("not a number");
    }
  }

  private static boolean flag(JsonNode value) {
    if (!value.isBoolean() && !value.isIntegralNumber()) {
      throw new IllegalArgumentException("not a flag");
    }
    return value.asBoolean();
  }

  private long integer(JsonNode value) {
    BigInteger number =
        value.isTextual()
            ? spelled(value.textValue().strip())
            : numeric(value).decimalValue().toBigIntegerExact();
    boolean unsigned = type.element().name().startsWith("U");
    int bits = 8 * type.element().bytes();
    boolean inRange =
        unsigned ? number.signum() >= 0 && number.bitLength() <= bits : number.bitLength() < bits;
    if (!inRange) {
      throw new ArithmeticException("out of range");
    }
    return number.longValue();
  }

  /** Returns the integer that a text spells, as n5-zarr writes it. */
  private static BigInteger spelled(String text) {
    if (text.length() > MAX_DIGITS) {
      throw new IllegalArgumentException("too long");
    }
    return new BigInteger(text);
  }

  /** Returns the bits of a number, which version 3 can also write as hexadecimal digits. */
  private static long bits(JsonNode value, ElementType element) {
    if (value.isTextual() && value.textValue().startsWith("0x")) {
      return Long.parseUnsignedLong(value.textValue().substring(2), 16);
    }
    double number =
        switch (value.isTextual() ? value.textValue().strip().toLowerCase(Locale.ROOT) : "") {
          case "nan" -> Double.NaN;
          case "inf", "infinity" -> Double.POSITIVE_INFINITY;
          case "-inf", "-infinity" -> Double.NEGATIVE_INFINITY;
          default ->
              value.isTextual()
                  ? Double.parseDouble(value.textValue())
                  : numeric(value).doubleValue();
        };
    return switch (element) {
      case FLOAT16 -> nearestHalf(number);
      case FLOAT32 -> Float.floatToIntBits((float) number);
      default -> Double.doubleToLongBits(number);
    };
  }

  private static JsonNode numeric(JsonNode value) {
    if (!value.isNumber()) {
      throw new IllegalArgumentException("not a number");
    }
    return value;
  }

  /** Returns the bits of the binary16 number nearest to a number. */
  private static short nearestHalf(double number) {
    if (Double.isNaN(number)) {
      return 0x7E00;
    }
    ByteBuffer all = ByteBuffer.allocate(1 << 17).order(ByteOrder.LITTLE_ENDIAN);
    for (int bits = 0; bits < 1 << 16; bits++) {
      all.putShort((short) bits);
    }
    float[] halves = (float[]) ElementType.FLOAT16.decode(all.flip(), 1 << 16);
    int best = Double.compare(number, 0.0) < 0 ? 1 << 15 : 0; // a zero keeps its sign
    for (int bits = 0; bits < halves.length; bits++) {
      if (halves[bits] == number && number != 0) {
        return (short) bits;
      }
      if (Math.abs(halves[bits] - number) < Math.abs(halves[best] - number)) {
        best = bits;
      }
    }
    return (short) best;
  }
}
