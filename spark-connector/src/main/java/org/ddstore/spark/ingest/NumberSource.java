// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.Optional;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.types.DType;

/**
 * The numbers of a column, or of the elements of its arrays, as they are taken from rows: Spark's
 * own numbers, or decimals as unscaled or floating-point numbers.
 *
 * @param precision number of digits of the decimals; 0 if the column contains no decimals
 * @param scale number of digits after the decimal point
 */
record NumberSource(NumberType type, int precision, int scale) implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * Returns the numbers of a SQL type; empty if the type has none, or if they do not fit the form.
   *
   * @param form form of decimals; null to refuse them
   */
  static Optional<NumberSource> of(DataType type, DecimalForm form) {
    if (!(type instanceof DecimalType decimal)) {
      return NumberType.of(type).map(number -> new NumberSource(number, 0, 0));
    }
    if (form == null
        || (form == DecimalForm.INT64 && decimal.precision() > Decimal.MAX_LONG_DIGITS())) {
      return Optional.empty();
    }
    NumberType number = form == DecimalForm.INT64 ? NumberType.LONG : NumberType.DOUBLE;
    return Optional.of(new NumberSource(number, decimal.precision(), decimal.scale()));
  }

  /** Returns the element type with exactly the values of {@link #type}. */
  DType natural() {
    return type.natural();
  }

  boolean isDecimal() {
    return precision > 0;
  }

  /** Returns whether arrays contain the elements of a type in binary form. */
  boolean isStoredAs(DType dtype) {
    return !isDecimal() && dtype == type.natural();
  }

  /** Returns number {@code i} of a row or an array; a boolean is 0 or 1. Not for floating types. */
  long getLong(SpecializedGetters from, int i) {
    return switch (type) {
      case BOOLEAN -> from.getBoolean(i) ? 1 : 0;
      case BYTE -> from.getByte(i);
      case SHORT -> from.getShort(i);
      case INT -> from.getInt(i);
      case LONG ->
          isDecimal() ? from.getDecimal(i, precision, scale).toUnscaledLong() : from.getLong(i);
      case FLOAT, DOUBLE ->
          throw new IllegalStateException("type " + type + " is not an integer type");
    };
  }

  /** Returns number {@code i}, of a floating type. */
  double getDouble(SpecializedGetters from, int i) {
    if (isDecimal()) {
      return from.getDecimal(i, precision, scale).toDouble();
    }
    return type == NumberType.FLOAT ? from.getFloat(i) : from.getDouble(i);
  }

  /**
   * Returns a user's value of the column as a number that is taken: of decimals the unscaled or the
   * floating-point number.
   *
   * @throws ArithmeticException if a decimal column cannot contain the value
   */
  Serializable converted(Serializable value) {
    if (!isDecimal() || value == null) {
      return value;
    }
    BigDecimal exact;
    try {
      BigDecimal given = new BigDecimal(value.toString()).stripTrailingZeros();
      boolean isLarge = (long) given.precision() - given.scale() > precision - scale;
      if (given.scale() > scale || (isLarge && given.signum() != 0)) {
        throw new ArithmeticException(given + " does not fit " + decimals()); // before any zeros
      }
      exact = given.setScale(scale);
    } catch (NumberFormatException e) {
      throw (ArithmeticException) new ArithmeticException(e.getMessage()).initCause(e);
    }
    if (exact.precision() > precision) {
      throw new ArithmeticException(exact + " has more than " + precision + " digits");
    }
    return type == NumberType.LONG
        ? (Serializable) exact.unscaledValue().longValueExact()
        : (Serializable) exact.doubleValue();
  }

  /** Returns the SQL name of the decimals, such as {@code DECIMAL(10,2)}. */
  String decimals() {
    return "DECIMAL(%d,%d)".formatted(precision, scale);
  }
}
