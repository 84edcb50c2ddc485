// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import org.ddstore.types.DType;

/**
 * A writer of numbers as elements of one type in a record, which rejects values that do not fit.
 */
final class NumberStore {
  private final DType dtype;

  /**
   * @param dtype type of the elements
   */
  NumberStore(DType dtype) {
    this.dtype = dtype;
  }

  /**
   * Returns why numbers of a type cannot be converted to elements, or null if they can. An integer
   * must fit the target integer type or be exactly representable in the target floating-point type;
   * a floating-point number can be rounded to a narrower type.
   */
  static String refusal(NumberSource source, DType to) {
    NumberType from = source.type();
    boolean toFloating = to == DType.FLOAT32 || to == DType.FLOAT64;
    if (source.isDecimal() && from.isFloating() != toFloating) {
      return from.isFloating()
          ? "decimals in the form float64 cannot become %s: use the form int64".formatted(to)
          : "decimals in the form int64 cannot become %s: use the form float64".formatted(to);
    }
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
    if (value instanceof BigDecimal || value instanceof BigInteger) {
      return putExact(record, place, new BigDecimal(value.toString()));
    }
    return value instanceof Number number && put(record, place, number.longValue());
  }

  private boolean putExact(ByteBuffer record, int place, BigDecimal value) {
    if (dtype == DType.FLOAT32 || dtype == DType.FLOAT64) {
      double nearest = value.doubleValue();
      return !Double.isInfinite(nearest) && put(record, place, nearest);
    }
    try {
      return put(record, place, value.longValueExact());
    } catch (ArithmeticException e) {
      return false;
    }
  }
}
