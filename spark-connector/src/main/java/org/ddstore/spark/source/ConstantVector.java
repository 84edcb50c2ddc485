package org.ddstore.spark.source;

import org.apache.spark.sql.types.DataType;

/** The parts of a vector of Spark ML that follow from its form: a tag, or nothing. */
final class ConstantVector extends FieldVector {
  private final Byte value;

  /**
   * @param value null for a column of nulls
   */
  ConstantVector(DataType type, Byte value) {
    super(type);
    this.value = value;
  }

  @Override
  public boolean hasNull() {
    return value == null;
  }

  @Override
  public boolean isNullAt(int row) {
    return value == null;
  }

  @Override
  public byte getByte(int row) {
    return value;
  }
}
