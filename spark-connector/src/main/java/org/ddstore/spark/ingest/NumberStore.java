// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.ddstore.types.DType;

/**
 * A converter of numbers of one Spark type to elements of one type in a record, which rejects
 * values that do not fit.
 */
final class NumberStore {
  private final NumberType type;
  private final DType dtype;

  /**
   * @param type type of the numbers in rows and arrays
   * @param dtype type of the elements
   */
  NumberStore(NumberType type, DType dtype) {
    this.type = type;
    this.dtype = dtype;
  }

  /**
   * Returns why numbers of a type cannot be converted to elements, or null if they can. An integer
   * must fit the target integer type or be exactly representable in the target floating-point type;
   * a floating-point number can be rounded to a narrower type.
   */
  static String refusal(NumberType from, DType to) {
    boolean possible =
        switch (to) {
          case BOOL, INT8, UINT8, INT16, INT32, INT64 -> !from.isFloating();
          case FLOAT16, BFLOAT16 -> from == NumberType.SHORT;
          case FLOAT32, FLOAT64 -> from != NumberType.BOOLEAN;
        };
    if (possible) {
      return null;
    }
    return switch (to) {
      case FLOAT16, BFLOAT16 ->
          to + " is stored as two raw bytes: provide them as smallint or binary";
      default -> from.natural() + " values cannot become " + to + ": cast the column first";
    };
  }

  /** Returns the legal range as text for messages. */
  String range() {
    return switch (dtype) {
      case BOOL -> "[0, 1]";
      case INT8 -> "[-128, 127]";
      case UINT8 -> "[0, 255]";
      case INT16, FLOAT16, BFLOAT16 -> "[-32768, 32767]";
      case INT32 -> "[-2147483648, 2147483647]";
      case INT64 -> "[-2^63, 2^63)";
      case FLOAT32 -> "the range of float32";
      case FLOAT64 -> "the exact range of float64";
    };
  }

  /** Returns number {@code i} of a row or an array; a boolean is 0 or 1. Not for floating types. */
  long getLong(SpecializedGetters from, int i) {
    return switch (type) {
      case BOOLEAN -> from.getBoolean(i) ? 1 : 0;
      case BYTE -> from.getByte(i);
      case SHORT -> from.getShort(i);
      case INT -> from.getInt(i);
      case LONG -> from.getLong(i);
      case FLOAT, DOUBLE ->
          throw new IllegalStateException("type " + type + " is not an integer type");
    };
  }

  /** Returns number {@code i}, of a floating type. */
  double getDouble(SpecializedGetters from, int i) {
    return type == NumberType.FLOAT ? from.getFloat(i) : from.getDouble(i);
  }

  /** Puts an integer; returns false if it does not fit. */
  boolean put(ByteBuffer record, int place, long value) {
    switch (dtype) {
      case BOOL, UINT8 -> {
        record.put(place, (byte) value);
        return value >= 0 && value <= (dtype == DType.BOOL ? 1 : 255);
      }
      case INT8 -> {
        record.put(place, (byte) value);
        return value == (byte) value;
      }
      case INT16, FLOAT16, BFLOAT16 -> {
        record.putShort(place, (short) value);
        return value == (short) value;
      }
      case INT32 -> {
        record.putInt(place, (int) value);
        return value == (int) value;
      }
      case INT64 -> {
        record.putLong(place, value);
        return true;
      }
      case FLOAT32 -> {
        record.putFloat(place, (float) value);
        return value != Long.MAX_VALUE && (long) (float) value == value;
      }
      case FLOAT64 -> {
        record.putDouble(place, (double) value);
        return value != Long.MAX_VALUE && (long) (double) value == value;
      }
    }
    throw new IllegalStateException("unsupported element type " + dtype);
  }

  /** Puts a floating-point number, rounded if needed; returns false if it does not fit. */
  boolean put(ByteBuffer record, int place, double value) {
    if (dtype == DType.FLOAT64) {
      record.putDouble(place, value);
      return true;
    }
    if (dtype == DType.FLOAT32) {
      float narrow = (float) value;
      record.putFloat(place, narrow);
      return !Float.isInfinite(narrow) || Double.isInfinite(value);
    }
    return value == Math.rint(value)
        && Math.abs(value) <= (1L << 53)
        && put(record, place, (long) value);
  }

  /** Puts a user's number or boolean; returns false if it does not fit. */
  boolean putValue(ByteBuffer record, int place, Object value) {
    if (value instanceof Boolean truth) {
      return put(record, place, truth ? 1L : 0L);
    }
    if (value instanceof Double || value instanceof Float) {
      return put(record, place, ((Number) value).doubleValue());
    }
    return value instanceof Number number && put(record, place, number.longValue());
  }
}
