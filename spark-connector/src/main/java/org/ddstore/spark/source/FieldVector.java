// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A column over memory that it does not own, without nulls. Getters that a subclass does not
 * override throw, because its type has no such values. Row numbers are not checked: Spark reads
 * only rows of the batch.
 */
public abstract class FieldVector extends ColumnVector {
  protected FieldVector(DataType type) {
    super(type);
  }

  private UnsupportedOperationException none(String kind) {
    return new UnsupportedOperationException(
        "a column of %s has no %s".formatted(type.sql(), kind));
  }

  /** Does nothing, because the vector does not own the memory. */
  @Override
  public void close() {}

  @Override
  public boolean hasNull() {
    return false;
  }

  @Override
  public int numNulls() {
    return 0;
  }

  @Override
  public boolean isNullAt(int row) {
    return false;
  }

  @Override
  public boolean getBoolean(int row) {
    throw none("booleans");
  }

  @Override
  public byte getByte(int row) {
    throw none("bytes");
  }

  @Override
  public short getShort(int row) {
    throw none("shorts");
  }

  @Override
  public int getInt(int row) {
    throw none("ints");
  }

  @Override
  public long getLong(int row) {
    throw none("longs");
  }

  @Override
  public float getFloat(int row) {
    throw none("floats");
  }

  @Override
  public double getDouble(int row) {
    throw none("doubles");
  }

  @Override
  public ColumnarArray getArray(int row) {
    throw none("arrays");
  }

  @Override
  public ColumnarMap getMap(int row) {
    throw none("maps");
  }

  @Override
  public Decimal getDecimal(int row, int precision, int scale) {
    throw none("decimals");
  }

  @Override
  public UTF8String getUTF8String(int row) {
    throw none("text");
  }

  @Override
  public byte[] getBinary(int row) {
    throw none("binary");
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    throw none("child %d".formatted(ordinal));
  }
}
