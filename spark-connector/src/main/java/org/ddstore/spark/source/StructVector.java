package org.ddstore.spark.source;

import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;

/** Structs, put together from the columns that their fields became. */
final class StructVector extends FieldVector {
  private final ColumnVector[] fields;

  StructVector(StructType type, ColumnVector... fields) {
    super(type);
    this.fields = fields;
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    return fields[ordinal];
  }
}
