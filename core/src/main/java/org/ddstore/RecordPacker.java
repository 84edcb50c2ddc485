// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A packer of Java values into records of one schema. Reuses one buffer for all records. */
final class RecordPacker {
  private final Schema schema;
  private ByteBuffer buffer = ByteBuffer.allocate(0);

  RecordPacker(Schema schema) {
    this.schema = schema;
  }

  /** Returns the packed record, valid until the next call. */
  ByteBuffer pack(long row, Object... values) {
    if (values.length != schema.size()) {
      throw new IllegalArgumentException(
          "row %,d has %d values for %d fields %s"
              .formatted(row, values.length, schema.size(), schema));
    }
    TensorMemory[] parts = new TensorMemory[values.length];
    long bytes = schema.prefixBytes();
    for (int i = 0; i < values.length; i++) {
      Field field = schema.field(i);
      parts[i] = memory(row, field, values[i]);
      if (field.isRagged()) {
        bytes += parts[i].bytes();
      }
    }
    reserve(row, bytes);
    int dataAt = schema.prefixBytes();
    for (int i = 0; i < values.length; i++) {
      int length = (int) parts[i].bytes();
      if (schema.field(i).isRagged()) {
        buffer.putInt(schema.lengthOffset(i), length / schema.field(i).bytes());
        parts[i].read(0, buffer, dataAt, length);
        dataAt += length;
      } else {
        parts[i].read(0, buffer, schema.fixedOffset(i), length);
      }
    }
    return buffer.limit(dataAt);
  }

  private void reserve(long row, long bytes) {
    if (bytes > Schema.MAX_RECORD_BYTES) {
      throw new IllegalArgumentException(
          "row %,d has %,d bytes; a record may have at most 1 GiB (%,d)"
              .formatted(row, bytes, Schema.MAX_RECORD_BYTES));
    }
    if (buffer.capacity() < bytes) {
      buffer = ByteBuffer.allocate((int) bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
    buffer.clear();
  }

  private static TensorMemory memory(long row, Field field, Object value) {
    Object array = field.kind() == Field.Kind.STRING ? utf8(value) : array(field, value);
    if (array == null || elementBytes(field.dtype(), array) != field.dtype().bytes()) {
      throw new IllegalArgumentException(
          "row %,d, field %s: %s does not fit the type of the field"
              .formatted(row, field, describe(value)));
    }
    TensorMemory memory = TensorMemory.ofArray(array);
    boolean fits =
        field.isRagged() ? memory.bytes() % field.bytes() == 0 : memory.bytes() == field.bytes();
    if (!fits) {
      throw new IllegalArgumentException(
          "row %,d, field %s: %,d elements %s %,d"
              .formatted(
                  row,
                  field,
                  memory.bytes() / field.dtype().bytes(),
                  field.isRagged() ? "are not a multiple of" : "instead of",
                  field.elements()));
    }
    return memory;
  }

  /** Returns the UTF-8 bytes of a text; null for another type or an unpaired surrogate. */
  private static byte[] utf8(Object value) {
    if (!(value instanceof String text)) {
      return null;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (byte unit : bytes) {
      if (unit == '?') { // part of the text, or a replacement for an unencodable character
        return StandardCharsets.UTF_8.newEncoder().canEncode(text) ? bytes : null;
      }
    }
    return bytes;
  }

  /** Returns the value as an array of the field's type; null if the type differs. */
  private static Object array(Field field, Object value) {
    boolean scalar = value instanceof Number || value instanceof Boolean;
    return switch (field.dtype()) {
      case BOOL -> scalar ? value instanceof Boolean b ? new boolean[] {b} : null : value;
      case INT8 -> scalar ? value instanceof Byte b ? new byte[] {b} : null : value;
      case UINT8 -> scalar ? unsignedByte(value) : value;
      case INT16, FLOAT16, BFLOAT16 ->
          scalar ? value instanceof Short s ? new short[] {s} : null : value;
      case INT32 -> scalar ? value instanceof Integer i ? new int[] {i} : null : value;
      case INT64 -> scalar ? value instanceof Long l ? new long[] {l} : null : value;
      case FLOAT32 -> scalar ? value instanceof Float f ? new float[] {f} : null : value;
      case FLOAT64 -> scalar ? value instanceof Double d ? new double[] {d} : null : value;
    };
  }

  private static byte[] unsignedByte(Object value) {
    if (value instanceof Byte signed) {
      return new byte[] {signed};
    }
    return value instanceof Integer i && i >= 0 && i <= 0xFF ? new byte[] {i.byteValue()} : null;
  }

  /** Returns the element size in bytes if the array's type matches the field's, else 0. */
  private static int elementBytes(DType dtype, Object array) {
    boolean fits =
        switch (dtype) {
          case BOOL -> array instanceof boolean[] || array instanceof byte[];
          case INT8, UINT8 -> array instanceof byte[];
          case INT16, FLOAT16, BFLOAT16 -> array instanceof short[];
          case INT32 -> array instanceof int[];
          case INT64 -> array instanceof long[];
          case FLOAT32 -> array instanceof float[];
          case FLOAT64 -> array instanceof double[];
        };
    return fits ? dtype.bytes() : 0;
  }

  private static String describe(Object value) {
    return value == null
        ? "null"
        : value.getClass().isArray()
            ? value.getClass().getSimpleName()
            : Arrays.toString(new Object[] {value}) + " (" + value.getClass().getSimpleName() + ")";
  }
}
