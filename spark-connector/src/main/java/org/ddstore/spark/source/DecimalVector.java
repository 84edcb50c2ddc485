// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.Platform;
import org.ddstore.types.DType;

/**
 * A column of decimals stored as unscaled integers, or as floating-point numbers, which are rounded
 * half up to the scale. A floating-point number beyond the precision becomes the nearest decimal.
 */
final class DecimalVector extends FieldVector {
  private final DType stored;
  private final Places places;
  private final CastVector integers;

  DecimalVector(DecimalType type, DType stored, Places places) {
    super(type);
    this.stored = stored;
    this.places = places;
    this.integers = new CastVector(type, stored, places);
  }

  @Override
  public Decimal getDecimal(int row, int precision, int scale) {
    return switch (stored) {
      case FLOAT32 -> rounded(Platform.getFloat(null, places.at(row)), precision, scale);
      case FLOAT64 -> rounded(Platform.getDouble(null, places.at(row)), precision, scale);
      default -> Decimal.createUnsafe(integers.getLong(row), precision, scale);
    };
  }

  private static Decimal rounded(double value, int precision, int scale) {
    BigDecimal rounded = BigDecimal.valueOf(value).setScale(scale, RoundingMode.HALF_UP);
    if (rounded.precision() > precision) {
      BigInteger most = BigInteger.TEN.pow(precision).subtract(BigInteger.ONE);
      rounded = new BigDecimal(value < 0 ? most.negate() : most, scale);
    }
    return Decimal.apply(rounded, precision, scale);
  }
}
