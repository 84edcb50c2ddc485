// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.ddstore.types.DType;

/** Columns of Spark's numeric types over stored elements. */
final class Elements {
  private Elements() {}

  /** Returns a column of numbers, cast if the stored type differs from Spark's. */
  static ColumnVector vector(DataType type, DType stored, Places places) {
    if (type instanceof DecimalType decimal) {
      return new DecimalVector(decimal, stored, places);
    }
    return stored == natural(type)
        ? new NumberVector(type, places)
        : new CastVector(type, stored, places);
  }

  /**
   * Returns the element type with the same binary form as Spark's type.
   *
   * @throws IllegalArgumentException if a store has no numbers of this type
   */
  static DType natural(DataType type) {
    if (type instanceof BooleanType) {
      return DType.BOOL;
    } else if (type instanceof ByteType) {
      return DType.INT8;
    } else if (type instanceof ShortType) {
      return DType.INT16;
    } else if (type instanceof IntegerType || type instanceof DateType) {
      return DType.INT32;
    } else if (type instanceof LongType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType) {
      return DType.INT64;
    } else if (type instanceof FloatType) {
      return DType.FLOAT32;
    } else if (type instanceof DoubleType) {
      return DType.FLOAT64;
    }
    throw new IllegalArgumentException("stores have no numbers of type " + type.sql());
  }
}
