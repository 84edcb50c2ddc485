// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.Optional;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.Platform;
import org.ddstore.types.DType;

/** Spark's internal number types, with access to single values and bulk copies. */
enum NumberType {
  BOOLEAN(DType.BOOL),
  BYTE(DType.INT8),
  SHORT(DType.INT16),
  INT(DType.INT32),
  LONG(DType.INT64),
  FLOAT(DType.FLOAT32),
  DOUBLE(DType.FLOAT64);

  private final DType natural;

  NumberType(DType natural) {
    this.natural = natural;
  }

  /** Returns the number type of a SQL type; empty if Spark does not represent it as a number. */
  static Optional<NumberType> of(DataType type) {
    if (type instanceof BooleanType) {
      return Optional.of(BOOLEAN);
    } else if (type instanceof ByteType) {
      return Optional.of(BYTE);
    } else if (type instanceof ShortType) {
      return Optional.of(SHORT);
    } else if (type instanceof IntegerType || type instanceof DateType) {
      return Optional.of(INT);
    } else if (type instanceof LongType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType) {
      return Optional.of(LONG);
    } else if (type instanceof FloatType) {
      return Optional.of(FLOAT);
    } else if (type instanceof DoubleType) {
      return Optional.of(DOUBLE);
    }
    return Optional.empty();
  }

  /** Returns the element type with exactly the same values. */
  DType natural() {
    return natural;
  }

  boolean isFloating() {
    return this == FLOAT || this == DOUBLE;
  }

  /** Returns element {@code i} as an integer; a boolean is 0 or 1. Not for floating types. */
  long getLong(SpecializedGetters from, int i) {
    return switch (this) {
      case BOOLEAN -> from.getBoolean(i) ? 1 : 0;
      case BYTE -> from.getByte(i);
      case SHORT -> from.getShort(i);
      case INT -> from.getInt(i);
      case LONG -> from.getLong(i);
      case FLOAT, DOUBLE ->
          throw new IllegalStateException("type " + this + " is not an integer type");
    };
  }

  /** Returns element {@code i} of a floating type. */
  double getDouble(SpecializedGetters from, int i) {
    return this == FLOAT ? from.getFloat(i) : from.getDouble(i);
  }

  /** Copies the first {@code count} elements unchanged; they must not be null. */
  void copy(ArrayData from, int count, byte[] to, int place) {
    long target = Platform.BYTE_ARRAY_OFFSET + (long) place;
    long length = (long) count * natural.bytes();
    if (from instanceof UnsafeArrayData array) {
      long first =
          array.getBaseOffset()
              + UnsafeArrayData.calculateHeaderPortionInBytes(array.numElements());
      Platform.copyMemory(array.getBaseObject(), first, to, target, length);
      return;
    }
    switch (this) {
      case BOOLEAN ->
          Platform.copyMemory(
              from.toBooleanArray(), Platform.BOOLEAN_ARRAY_OFFSET, to, target, length);
      case BYTE -> System.arraycopy(from.toByteArray(), 0, to, place, count);
      case SHORT ->
          Platform.copyMemory(from.toShortArray(), Platform.SHORT_ARRAY_OFFSET, to, target, length);
      case INT ->
          Platform.copyMemory(from.toIntArray(), Platform.INT_ARRAY_OFFSET, to, target, length);
      case LONG ->
          Platform.copyMemory(from.toLongArray(), Platform.LONG_ARRAY_OFFSET, to, target, length);
      case FLOAT ->
          Platform.copyMemory(from.toFloatArray(), Platform.FLOAT_ARRAY_OFFSET, to, target, length);
      case DOUBLE ->
          Platform.copyMemory(
              from.toDoubleArray(), Platform.DOUBLE_ARRAY_OFFSET, to, target, length);
    }
  }

  /** Returns whether one of the first {@code count} elements is null. */
  static boolean hasNull(ArrayData array, int count) {
    if (array instanceof UnsafeArrayData unsafe) {
      int words = (unsafe.numElements() + 63) >>> 6;
      for (int i = 0; i < words; i++) {
        long word =
            Platform.getLong(
                unsafe.getBaseObject(), unsafe.getBaseOffset() + Long.BYTES * (1L + i));
        if (word != 0) {
          return count == unsafe.numElements() || hasNullBit(array, count);
        }
      }
      return false;
    }
    return hasNullBit(array, count);
  }

  private static boolean hasNullBit(ArrayData array, int count) {
    for (int i = 0; i < count; i++) {
      if (array.isNullAt(i)) {
        return true;
      }
    }
    return false;
  }
}
