// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Decoders of chunks of texts. */
final class FixedText {
  private static final int LENGTH_BYTES = 4;

  private FixedText() {}

  /** Returns the texts of a chunk, {@code count} elements of a type of fixed size. */
  static String[] decode(ByteBuffer chunk, ZarrType type, int count) throws IOException {
    String[] texts = new String[count];
    byte[] bytes = new byte[type.bytes()];
    ByteBuffer from = chunk.duplicate().order(type.order());
    for (int i = 0; i < count; i++) {
      if (type.form() == ZarrType.Form.UTF32) {
        texts[i] = utf32(from, type.bytes() / LENGTH_BYTES);
      } else {
        from.get(bytes);
        texts[i] = trim(new String(bytes, StandardCharsets.UTF_8));
      }
    }
    return texts;
  }

  private static String utf32(ByteBuffer from, int units) throws IOException {
    StringBuilder text = new StringBuilder(units);
    for (int i = 0; i < units; i++) {
      int point = from.getInt();
      if (!Character.isValidCodePoint(point)) {
        throw new IOException("0x%08X is not a code point of UTF-32".formatted(point));
      }
      text.appendCodePoint(point);
    }
    return trim(text.toString());
  }

  /** Returns a text without the zeros at its end, which pad it. */
  static String trim(String padded) {
    int end = padded.length();
    while (end > 0 && padded.charAt(end - 1) == 0) {
      end--;
    }
    return padded.substring(0, end);
  }

  /**
   * Returns the texts of a chunk in the layout {@code vlen-utf8} of numcodecs: the number of texts,
   * then each with its length in bytes before it; numbers are 32-bit little-endian.
   */
  static String[] decodeVarying(ByteBuffer chunk, int count) throws IOException {
    ByteBuffer from = chunk.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int found = from.remaining() < LENGTH_BYTES ? -1 : from.getInt();
    if (found != count) {
      throw new IOException("the chunk has %,d texts instead of %,d".formatted(found, count));
    }
    String[] texts = new String[count];
    for (int i = 0; i < count; i++) {
      int length = from.remaining() < LENGTH_BYTES ? -1 : from.getInt();
      if (length < 0 || length > from.remaining()) {
        throw new IOException(
            "truncated: text %,d of %,d ends outside the chunk".formatted(i, count));
      }
      texts[i] =
          length == 0
              ? ""
              : new String(
                  from.array(),
                  from.arrayOffset() + from.position(),
                  length,
                  StandardCharsets.UTF_8);
      from.position(from.position() + length);
    }
    return texts;
  }
}
