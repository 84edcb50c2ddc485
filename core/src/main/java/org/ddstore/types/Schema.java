// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The fields of a record in order, and their layout in a packed record:
 *
 * <pre>
 * +-------------------------+---------------------------+----------------------+
 * | fixed fields, in order  | int32 length per ragged   | data of the ragged   |
 * |                         | field, in order           | fields, in order     |
 * +-------------------------+---------------------------+----------------------+
 * 0                    fixedBytes                  prefixBytes
 * </pre>
 *
 * A length counts rows of the inner shape. There is no padding. A schema without ragged fields has
 * records of {@link #fixedBytes()} bytes each. Immutable.
 */
public final class Schema {
  /** Largest record in bytes, 1 GiB, because a record must fit in one chunk. */
  public static final int MAX_RECORD_BYTES = 1 << 30;

  /** Limit of sums of lengths, which cannot overflow: one field has at most 2^61 bytes. */
  private static final long TOO_MANY_BYTES = 1L << 61;

  private final Field[] fields;
  private final Map<String, Integer> indexByName;
  private final int[] offsets;
  private final int fixedBytes;
  private final int raggedFields;

  private Schema(Field... all) {
    this.fields = all.clone(); // a copy, so that the caller cannot change checked fields
    if (fields.length == 0) {
      throw new IllegalArgumentException("a schema needs at least one field");
    }
    if (fields.length > 0xFFFF) {
      throw new IllegalArgumentException(fields.length + " fields outside [1, 65535]");
    }
    this.indexByName = new HashMap<>(fields.length * 2);
    this.offsets = new int[fields.length];
    long fixed = 0;
    int ragged = 0;
    for (int i = 0; i < fields.length; i++) {
      if (indexByName.put(fields[i].name(), i) != null) {
        throw new IllegalArgumentException(
            "two fields are named \"%s\": %s".formatted(fields[i].name(), List.of(fields)));
      }
      if (fields[i].isRagged()) {
        offsets[i] = ragged++;
      } else {
        offsets[i] = (int) fixed;
        fixed += fields[i].bytes();
      }
      long prefix = fixed + Integer.BYTES * (long) ragged;
      if (prefix > MAX_RECORD_BYTES) {
        throw new IllegalArgumentException(
            "a record of %s has %,d bytes or more; the limit is 1 GiB (%,d)"
                .formatted(Arrays.toString(fields), prefix, MAX_RECORD_BYTES));
      }
    }
    this.fixedBytes = (int) fixed;
    this.raggedFields = ragged;
  }

  /**
   * Creates a schema of these fields, which must have different names.
   *
   * @param fields at least one field
   * @return the schema
   */
  public static Schema of(Field... fields) {
    Objects.requireNonNull(fields, "fields is null");
    for (Object element : fields) {
      Objects.requireNonNull(element, "an element of fields is null");
    }
    return new Schema(fields);
  }

  /**
   * Creates a schema of these fields, which must have different names.
   *
   * @param fields at least one field
   * @return the schema
   */
  public static Schema of(List<Field> fields) {
    Objects.requireNonNull(fields, "fields is null");
    return new Schema(fields.toArray(new Field[0]));
  }

  /** {@return the fields, in order} */
  public List<Field> fields() {
    return List.of(fields);
  }

  /** {@return the number of fields} */
  public int size() {
    return fields.length;
  }

  /**
   * {@return field {@code index}, in [0, size)}
   *
   * @param index position of the field, in [0, {@link #size()})
   */
  public Field field(int index) {
    return fields[index];
  }

  /**
   * {@return the field of this name}
   *
   * @param name name of a field
   * @throws IllegalArgumentException if the field does not exist; the message lists the existing
   *     fields
   */
  public Field field(String name) {
    return fields[indexOf(name)];
  }

  /**
   * {@return the position of the field of this name}
   *
   * @param name name of a field
   * @throws IllegalArgumentException if the field does not exist; the message lists the existing
   *     fields
   */
  public int indexOf(String name) {
    Objects.requireNonNull(name, "name is null");
    Integer index = indexByName.get(name);
    if (index == null) {
      throw new IllegalArgumentException(
          "no field \"%s\": choose one of %s".formatted(name, Arrays.toString(fields)));
    }
    return index;
  }

  /**
   * Returns the positions of these fields, or of all if none is named; rejects repeats.
   *
   * @param names names of different fields
   * @return the positions
   */
  public int[] indicesOf(String... names) {
    Objects.requireNonNull(names, "names is null");
    for (Object element : names) {
      Objects.requireNonNull(element, "an element of names is null");
    }
    int[] indices = new int[names.length == 0 ? fields.length : names.length];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = names.length == 0 ? i : indexOf(names[i]);
      for (int j = 0; j < i; j++) {
        if (indices[i] == indices[j]) {
          throw new IllegalArgumentException("field \"" + names[i] + "\" is named twice");
        }
      }
    }
    return indices;
  }

  /** {@return whether every record has {@link #fixedBytes()} bytes} */
  public boolean isFixed() {
    return raggedFields == 0;
  }

  /** {@return the number of ragged fields} */
  public int raggedFields() {
    return raggedFields;
  }

  /** {@return the size of all fixed fields in bytes} */
  public int fixedBytes() {
    return fixedBytes;
  }

  /** {@return the size in bytes of the fixed fields and lengths, which precede the ragged data} */
  public int prefixBytes() {
    return fixedBytes + Integer.BYTES * raggedFields;
  }

  /**
   * {@return the offset of fixed field {@code index} in a record, in bytes}
   *
   * @param index position of the field, in [0, {@link #size()})
   */
  public int fixedOffset(int index) {
    if (fields[index].isRagged()) {
      throw new IllegalArgumentException(fields[index] + " is ragged and has no fixed offset");
    }
    return offsets[index];
  }

  /**
   * {@return the offset of the length of ragged field {@code index} in a record, in bytes}
   *
   * @param index position of the field, in [0, {@link #size()})
   */
  public int lengthOffset(int index) {
    if (!fields[index].isRagged()) {
      throw new IllegalArgumentException(fields[index] + " is not ragged");
    }
    return fixedBytes + Integer.BYTES * offsets[index];
  }

  /**
   * {@return the size in bytes of the packed record at {@code position}, computed from its lengths;
   * 2^61 if it is larger}
   *
   * @param record little-endian buffer; may hold the prefix only
   * @param position offset of the record in the buffer, in bytes
   * @throws IllegalArgumentException if a length is negative
   */
  public long recordBytes(ByteBuffer record, int position) {
    Objects.requireNonNull(record, "record is null");
    long bytes = prefixBytes();
    if (raggedFields > 0) {
      int at = position + fixedBytes;
      for (Field field : fields) {
        if (field.isRagged()) {
          int length = record.getInt(at);
          if (length < 0) {
            throw new IllegalArgumentException(
                "length %d of field %s is negative".formatted(length, field));
          }
          bytes = Math.min(bytes + (long) length * field.bytes(), TOO_MANY_BYTES);
          at += Integer.BYTES;
        }
      }
    }
    return bytes;
  }

  /** {@return the little-endian binary form of segment headers (docs/segment-format.md)} */
  public byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeShort(Short.reverseBytes((short) fields.length));
      for (Field field : fields) {
        byte[] name = field.name().getBytes(StandardCharsets.UTF_8);
        out.writeShort(Short.reverseBytes((short) name.length));
        out.write(name);
        out.writeByte(field.kind().code());
        out.writeByte(field.dtype().code());
        int[] shape = field.shape();
        out.writeByte(shape.length);
        for (int dimension : shape) {
          out.writeInt(Integer.reverseBytes(dimension));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Parses the form of {@link #toBytes()}, starting at the position of a little-endian buffer.
   *
   * @param in buffer that holds the bytes
   * @return the schema
   * @throws IllegalArgumentException if the bytes are not a schema
   */
  public static Schema parse(ByteBuffer in) {
    Objects.requireNonNull(in, "in is null");
    try {
      int count = Short.toUnsignedInt(in.getShort());
      List<Field> fields = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        byte[] name = new byte[Short.toUnsignedInt(in.getShort())];
        in.get(name);
        Field.Kind kind = Field.Kind.ofCode(in.get());
        DType dtype = DType.ofCode(in.get());
        int[] shape = new int[Byte.toUnsignedInt(in.get())];
        for (int d = 0; d < shape.length; d++) {
          shape[d] = in.getInt();
        }
        fields.add(new Field(new String(name, StandardCharsets.UTF_8), kind, dtype, shape));
      }
      return of(fields);
    } catch (java.nio.BufferUnderflowException e) {
      throw new IllegalArgumentException("the schema ends too early", e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Schema that && Arrays.equals(fields, that.fields);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(fields);
  }

  /** Returns one line, such as {@code Schema[x: float32[3], label: int64]}. */
  @Override
  public String toString() {
    return Arrays.stream(fields)
        .map(field -> field.name() + ": " + field.typeText())
        .collect(Collectors.joining(", ", "Schema[", "]"));
  }
}
