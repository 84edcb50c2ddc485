// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.ddstore.spark.types.FieldMetadata;
import org.ddstore.types.Field;

/**
 * A column of a data set: the name, and type and shape of its values. A value of one row is a
 * number or a text (no dimension), an array of fixed shape, or ragged: an array whose first
 * dimension varies. Arrays are row-major.
 */
public final class SampleColumn implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Assumed mean length of ragged values of which the format gives none. */
  private static final int GUESSED_LENGTH = 64;

  private final String name;
  private final ElementType type;
  private final boolean ragged;
  private final boolean nullable;
  private final int[] shape;
  private final int meanLength;

  private SampleColumn(
      String name,
      ElementType type,
      boolean ragged,
      boolean nullable,
      int meanLength,
      int... shape) {
    this.name = Objects.requireNonNull(name, "name is null");
    this.type = Objects.requireNonNull(type, "type is null");
    this.ragged = ragged;
    this.nullable = nullable;
    this.meanLength = meanLength;
    this.shape = shape.clone();
    long elements = 1;
    for (int length : shape) {
      if (length < 1) {
        throw new IllegalArgumentException(
            "column %s: dimension %d of %s is outside [1, 2147483647]"
                .formatted(name, length, this));
      }
      elements *= length;
      if (elements > Integer.MAX_VALUE) {
        throw new IllegalArgumentException(
            "column %s: one value of %s has more than %,d elements: divide the values into smaller ones"
                .formatted(name, this, Integer.MAX_VALUE));
      }
    }
  }

  /**
   * {@return a column of numbers, texts, or arrays of numbers of one shape}
   *
   * @param name name of the column
   * @param type type of an element
   * @param shape dimensions of one value; none for one number or text
   */
  public static SampleColumn fixed(String name, ElementType type, int... shape) {
    return new SampleColumn(name, type, false, false, 1, shape);
  }

  /**
   * {@return a column of arrays whose first dimension varies from row to row}
   *
   * @param name name of the column
   * @param type type of an element
   * @param innerShape dimensions after the first; none for lists of numbers
   */
  public static SampleColumn ragged(String name, ElementType type, int... innerShape) {
    return new SampleColumn(name, type, true, false, GUESSED_LENGTH, innerShape);
  }

  /** {@return a copy whose values may be null} */
  public SampleColumn orNull() {
    return new SampleColumn(name, type, ragged, true, meanLength, shape);
  }

  /**
   * {@return a copy of a ragged column with a better estimate of its size} {@link #equals} ignores
   * the estimate.
   *
   * @param length mean length of the first dimension, at least 1
   */
  public SampleColumn meanLength(int length) {
    return new SampleColumn(name, type, ragged, nullable, ragged ? length : 1, shape);
  }

  /**
   * {@return a copy with another name}
   *
   * @param other name of the copy
   */
  public SampleColumn as(String other) {
    return new SampleColumn(other, type, ragged, nullable, meanLength, shape);
  }

  /** {@return the name} */
  public String name() {
    return name;
  }

  /** {@return the type of an element} */
  public ElementType type() {
    return type;
  }

  /** {@return whether the first dimension varies} */
  public boolean isRagged() {
    return ragged;
  }

  /** {@return whether values may be null} */
  public boolean isNullable() {
    return nullable;
  }

  /** {@return the dimensions of a value; of a ragged one those after the first} */
  public int[] shape() {
    return shape.clone();
  }

  /**
   * {@return the number of elements of a value; of a ragged one, of one index of its first
   * dimension}
   */
  public int elements() {
    return Arrays.stream(shape).reduce(1, Math::multiplyExact);
  }

  /** {@return whether a value is an array} */
  public boolean isArray() {
    return ragged || shape.length > 0;
  }

  /**
   * {@return whether a value is a BINARY, its elements one byte each: arrays of uint8, which are
   * images in most cases}
   */
  public boolean isBinary() {
    return type == ElementType.UINT8 && isArray() && (!ragged || shape.length == 0);
  }

  /** {@return the size of a value in memory in bytes; a guess for texts and ragged arrays} */
  public long estimatedBytes() {
    if (type == ElementType.TEXT) {
      return 32;
    }
    return (long) meanLength * elements() * type.bytes();
  }

  /**
   * Decodes elements into an array of the Java type that {@link Values} need for this column.
   *
   * @param from elements, in the byte order of the buffer; its position is moved behind them
   * @param count number of elements
   * @return a new array
   * @throws ArithmeticException if the SQL type does not contain a value
   */
  public Object decode(ByteBuffer from, int count) {
    return isBinary() ? ElementType.INT8.decode(from, count) : type.decode(from, count);
  }

  /**
   * Returns values of this column, which must be of fixed shape, from their elements in a file. A
   * load copies them without decoding where the file has them as a store keeps them.
   *
   * @param from elements of all rows, in the byte order of the buffer; not to be changed before the
   *     next values of this column are read; its position is moved behind them
   * @param rows number of rows
   * @return the values
   * @throws ArithmeticException if the SQL type does not contain a value
   */
  public Values values(ByteBuffer from, int rows) {
    int width = elements();
    if (!type.isStoredAsInFiles()
        || (type.bytes() > 1 && from.order() != ByteOrder.LITTLE_ENDIAN)) {
      return Values.fixed(decode(from, rows * width), rows, width);
    }
    ByteBuffer packed = from.slice(from.position(), rows * width * type.bytes());
    from.position(from.position() + packed.limit());
    return Values.packed(
        packed,
        () -> decode(packed.duplicate().order(ByteOrder.LITTLE_ENDIAN), rows * width),
        rows,
        width);
  }

  /** {@return the SQL type of a value} */
  public DataType sqlType() {
    if (isBinary()) {
      return DataTypes.BinaryType;
    }
    return isArray() ? DataTypes.createArrayType(type.sqlType(), false) : type.sqlType();
  }

  /** {@return the column of a DataFrame; its metadata declares the field of a store} */
  public StructField sqlField() {
    boolean plain = type.stored() == null || (isBinary() && ragged);
    Metadata metadata = plain ? Metadata.empty() : FieldMetadata.of(field());
    return new StructField(name, sqlType(), nullable, metadata);
  }

  private Field field() {
    return ragged
        ? Field.ragged(name, type.stored(), shape)
        : Field.fixed(name, type.stored(), shape);
  }

  /** {@return whether the values of both columns have the same name, type and shape} */
  @Override
  public boolean equals(Object other) {
    return other instanceof SampleColumn that
        && name.equals(that.name)
        && type == that.type
        && ragged == that.ragged
        && nullable == that.nullable
        && Arrays.equals(shape, that.shape);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, type, ragged, nullable, Arrays.hashCode(shape));
  }

  /** {@return a form such as {@code uint8[28,28]} or {@code float32[?,2]}, without the name} */
  @Override
  public String toString() {
    Stream<String> inner = IntStream.of(shape).mapToObj(Integer::toString);
    String all =
        Stream.concat(ragged ? Stream.of("?") : Stream.empty(), inner)
            .collect(Collectors.joining(","));
    String base = type.toString();
    return all.isEmpty() ? base : "%s[%s]".formatted(base, all);
  }
}
