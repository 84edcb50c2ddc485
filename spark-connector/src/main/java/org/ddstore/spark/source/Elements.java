package org.ddstore.spark.source;

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
import org.apache.spark.sql.vectorized.ColumnVector;
import org.ddstore.types.DType;

/** Numbers of Spark's types over the elements that are stored. */
final class Elements {
  private Elements() {}

  /** A column of numbers: as they are where the stored type is Spark's own, else cast back. */
  static ColumnVector vector(DataType type, DType stored, Places places) {
    return stored == natural(type)
        ? new NumberVector(type, places)
        : new CastVector(type, stored, places);
  }

  /**
   * The element type that has the bytes of Spark's own form.
   *
   * @throws IllegalArgumentException if the type is no number to a store
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
    throw new IllegalArgumentException("no store has numbers of type " + type.sql());
  }
}
