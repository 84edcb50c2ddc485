// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * A typed, named part of a record. A {@link Kind#FIXED} field has the same shape in every record; a
 * ragged one (all other kinds) has {@code length} rows of a fixed inner shape, and the length
 * differs from record to record.
 */
public final class Field {
  /** The interpretation of the bytes of a field. */
  public enum Kind {
    /** A fixed shape; the empty shape is a scalar. */
    FIXED(1),
    /** A varying first dimension over a fixed inner shape. */
    RAGGED(2),
    /** UTF-8 text: ragged bytes. */
    STRING(3),
    /** Opaque bytes: ragged bytes. */
    BYTES(4);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /** {@return the stable number of this kind in segment headers (docs/segment-format.md)} */
    public int code() {
      return code;
    }

    static Kind ofCode(int code) {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new IllegalArgumentException("field kind code " + code + " outside [1, 4]");
    }
  }

  private static final int MAX_DIMENSIONS = 8;
  private static final int MAX_NAME_BYTES = 1000;

  private final String name;
  private final Kind kind;
  private final DType dtype;
  private final int[] shape;
  private final int elements;

  Field(String name, Kind kind, DType dtype, int... dimensions) {
    this.name = Objects.requireNonNull(name, "name is null");
    this.kind = kind;
    this.dtype = Objects.requireNonNull(dtype, "dtype is null");
    this.shape = dimensions.clone(); // a copy, so that the caller cannot change a checked shape
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a field name must not be empty");
    }
    int nameBytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (nameBytes > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "field \"%.20s..\": the name has %,d bytes, the limit is %,d"
              .formatted(name, nameBytes, MAX_NAME_BYTES));
    }
    boolean text = kind == Kind.STRING || kind == Kind.BYTES;
    if (text && (dtype != DType.UINT8 || shape.length > 0)) {
      throw new IllegalArgumentException(
          "field \"%s\": %s of %s%s must have type uint8 and no shape"
              .formatted(name, kind, dtype, Arrays.toString(shape)));
    }
    if (shape.length > MAX_DIMENSIONS) {
      throw new IllegalArgumentException(
          "field \"%s\": %d dimensions outside [0, %d]"
              .formatted(name, shape.length, MAX_DIMENSIONS));
    }
    long count = 1;
    for (int dimension : shape) {
      if (dimension < 1) {
        throw new IllegalArgumentException(
            "field \"%s\": dimension %d of shape %s must be at least 1"
                .formatted(name, dimension, Arrays.toString(shape)));
      }
      count = Math.multiplyExact(count, dimension);
      if (count * dtype.bytes() > Schema.MAX_RECORD_BYTES) {
        throw new IllegalArgumentException(
            "field \"%s\": shape %s of %s is larger than a record; the limit is 1 GiB (%,d)"
                .formatted(name, Arrays.toString(shape), dtype, Schema.MAX_RECORD_BYTES));
      }
    }
    this.elements = (int) count;
  }

  /**
   * Creates a field of fixed shape, or a scalar without a shape. Dimensions are at least 1.
   *
   * @param name name, 1 to 1,000 bytes of UTF-8
   * @param dtype element type
   * @param shape dimensions, at least 1 each; none for a scalar
   * @return a field of fixed shape
   */
  public static Field fixed(String name, DType dtype, int... shape) {
    Objects.requireNonNull(shape, "shape is null");
    return new Field(name, Kind.FIXED, dtype, shape);
  }

  /**
   * Creates a field with a varying first dimension: a record holds {@code [length, innerShape...]}.
   *
   * @param name name, 1 to 1,000 bytes of UTF-8
   * @param dtype element type
   * @param innerShape dimensions after the first, at least 1 each
   * @return a ragged field
   */
  public static Field ragged(String name, DType dtype, int... innerShape) {
    Objects.requireNonNull(innerShape, "innerShape is null");
    return new Field(name, Kind.RAGGED, dtype, innerShape);
  }

  /**
   * Creates a field of UTF-8 text of any length.
   *
   * @param name name, 1 to 1,000 bytes of UTF-8
   * @return a string field
   */
  public static Field string(String name) {
    return new Field(name, Kind.STRING, DType.UINT8);
  }

  /**
   * Creates a field of bytes of any length.
   *
   * @param name name, 1 to 1,000 bytes of UTF-8
   * @return a field of bytes
   */
  public static Field bytes(String name) {
    return new Field(name, Kind.BYTES, DType.UINT8);
  }

  /** {@return the name} */
  public String name() {
    return name;
  }

  /** {@return the kind} */
  public Kind kind() {
    return kind;
  }

  /** {@return the element type} */
  public DType dtype() {
    return dtype;
  }

  /** {@return the shape of a fixed field, or the inner shape of a ragged one} */
  public int[] shape() {
    return shape.clone();
  }

  /** {@return whether the first dimension varies from record to record} */
  public boolean isRagged() {
    return kind != Kind.FIXED;
  }

  /** {@return the number of elements of a fixed field, or of one row of a ragged one} */
  public int elements() {
    return elements;
  }

  /** {@return the size in bytes of a fixed field, or of one row of a ragged one} */
  public int bytes() {
    return elements * dtype.bytes();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Field that
        && name.equals(that.name)
        && kind == that.kind
        && dtype == that.dtype
        && Arrays.equals(shape, that.shape);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, kind, dtype, Arrays.hashCode(shape));
  }

  /** Returns name and type: {@code image float32[28, 28]}, {@code points float32[?, 3]}. */
  @Override
  public String toString() {
    return name + " " + typeText();
  }

  /** {@return the type without the name: {@code float32[28, 28]}} */
  public String typeText() {
    return switch (kind) {
      case STRING -> "string";
      case BYTES -> "bytes";
      case FIXED -> shape.length == 0 ? dtype.toString() : dtype + Arrays.toString(shape);
      case RAGGED -> {
        StringBuilder text = new StringBuilder(dtype + "[?");
        for (int dimension : shape) {
          text.append(", ").append(dimension);
        }
        yield text.append(']').toString();
      }
    };
  }
}
