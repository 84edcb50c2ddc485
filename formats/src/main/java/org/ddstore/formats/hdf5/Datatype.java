// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.ddstore.formats.ElementType;

/** The type of the elements of a data set or an attribute. */
final class Datatype {
  private static final String[] KINDS = {
    "integer",
    "floating point",
    "time",
    "string",
    "bit field",
    "opaque",
    "compound",
    "reference",
    "enumeration",
    "variable-length sequence",
    "array",
    "complex"
  };
  private static final int INTEGER = 0;
  private static final int FLOATING_POINT = 1;
  private static final int STRING = 3;
  private static final int ENUMERATION = 8;
  private static final int VARIABLE_LENGTH = 9;
  private static final int SPACE_PADDED = 2;
  private static final int NULL_PADDED = 1;
  private static final Map<Long, String> BOOLEAN = Map.of(0L, "FALSE", 1L, "TRUE");

  private final int kind;
  private final int flags;
  private final int bytes;
  private int version;
  private ElementType element;
  private String detail;

  private Datatype(int kind, int flags, int bytes) {
    this.kind = kind;
    this.flags = flags;
    this.bytes = bytes;
  }

  static Datatype read(Cursor message) {
    Datatype type = prefix(message);
    switch (type.kind) {
      case INTEGER -> type.readInteger(message);
      case FLOATING_POINT -> type.readFloatingPoint(message);
      case STRING -> type.element = ElementType.TEXT;
      case ENUMERATION -> type.readEnumeration(message);
      case VARIABLE_LENGTH -> type.element = type.isVariableText() ? ElementType.TEXT : null;
      default -> type.element = null;
    }
    return type;
  }

  private static Datatype prefix(Cursor message) {
    int first = message.u8();
    int kind = first & 0xF;
    int flags = (int) message.unsigned(3);
    long bytes = message.u32();
    if (kind >= KINDS.length || bytes < 1 || bytes > Integer.MAX_VALUE) {
      throw Hdf5Exception.damaged("type %d with elements of %,d bytes".formatted(kind, bytes));
    }
    Datatype type = new Datatype(kind, flags, (int) bytes);
    type.version = first >> 4;
    type.detail = "version " + type.version;
    return type;
  }

  private void readInteger(Cursor message) {
    int offset = message.u16();
    int precision = message.u16();
    boolean isSigned = (flags & 1 << 3) != 0;
    detail = "%d bits from bit %d".formatted(precision, offset);
    if (offset == 0 && precision == Byte.SIZE * bytes) {
      element = ElementType.ofCode((isSigned ? "i" : "u") + bytes);
    }
  }

  /** Takes the types of IEEE 754, and no others of the same sizes, such as bfloat16. */
  private void readFloatingPoint(Cursor message) {
    int offset = message.u16();
    int precision = message.u16();
    int exponentAt = message.u8();
    int exponentBits = message.u8();
    int mantissaAt = message.u8();
    int mantissaBits = message.u8();
    long bias = message.u32();
    int sign = flags >> Byte.SIZE & 0xFF;
    boolean isImplied = (flags >> 4 & 3) == 2;
    boolean isVax = (flags & 1 << 6) != 0;
    detail = "exponent of %d bits, mantissa of %d bits".formatted(exponentBits, mantissaBits);
    int exponent = bytes == 2 ? 5 : bytes == 4 ? 8 : 11;
    int mantissa = Byte.SIZE * bytes - 1 - exponent;
    if (!isVax
        && isImplied
        && offset == 0
        && precision == Byte.SIZE * bytes
        && sign == precision - 1
        && exponentBits == exponent
        && exponentAt == mantissa
        && mantissaBits == mantissa
        && mantissaAt == 0
        && bias == (1 << (exponent - 1)) - 1) {
      element = ElementType.ofCode("f" + bytes);
    }
  }

  /** Takes the booleans of h5py. */
  private void readEnumeration(Cursor message) {
    int count = flags & 0xFFFF;
    Datatype base = prefix(message);
    detail = "%d values".formatted(count);
    if (base.kind != INTEGER || bytes != 1 || base.bytes != 1 || count != BOOLEAN.size()) {
      return;
    }
    message.skip(4);
    String[] names = new String[count];
    for (int i = 0; i < count; i++) {
      int start = message.position();
      names[i] = message.terminated();
      if (version < 3) {
        message.align(start);
      }
    }
    Map<Long, String> values = new TreeMap<>();
    for (String name : names) {
      values.put((long) message.u8(), name);
    }
    element = values.equals(BOOLEAN) ? ElementType.BOOL : null;
  }

  /** {@return the size of an element in the file} */
  int bytes() {
    return bytes;
  }

  /** {@return the type of the elements, which must be a supported one} */
  ElementType element() {
    if (element == null) {
      throw Hdf5Exception.unsupported(
          "the HDF5 type %s of %d bytes (%s)".formatted(KINDS[kind], bytes, detail),
          "supported are integers and IEEE 754 numbers of at most 8 bytes, booleans and texts");
    }
    return element;
  }

  ByteOrder order() {
    boolean isBig = kind <= FLOATING_POINT && (flags & 1) != 0;
    return isBig ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
  }

  boolean isText() {
    return element == ElementType.TEXT;
  }

  /** {@return whether elements refer to texts in the global heap} */
  boolean isVariableText() {
    return kind == VARIABLE_LENGTH && (flags & 0xF) == 1;
  }

  /** {@return the text in the bytes of an element} */
  String text(byte[] content, int from, int length) {
    int padding = kind == STRING ? flags & 0xF : 0;
    int end = from;
    if (padding == NULL_PADDED || padding == SPACE_PADDED) {
      byte pad = (byte) (padding == SPACE_PADDED ? ' ' : 0);
      end = from + length;
      while (end > from && content[end - 1] == pad) {
        end--;
      }
    } else {
      while (end < from + length && content[end] != 0) {
        end++;
      }
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(content, from, end - from))
          .toString();
    } catch (CharacterCodingException e) {
      throw Hdf5Exception.of("a text is not UTF-8: write the texts as UTF-8");
    }
  }
}
