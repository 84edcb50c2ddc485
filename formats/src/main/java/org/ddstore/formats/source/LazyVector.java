// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.nio.ByteBuffer;
import java.util.function.Supplier;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.unsafe.types.UTF8String;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.Values;
import org.ddstore.spark.source.FieldVector;
import org.ddstore.spark.types.PackedVector;
import org.ddstore.types.DType;

/** A column whose values are read when the first one is used. */
final class LazyVector extends FieldVector implements PackedVector {
  private final SampleColumn column;
  private final Supplier<Values> source;
  private Values values;
  private PrimitiveVector elements;

  LazyVector(SampleColumn column, Supplier<Values> source) {
    super(column.sqlType());
    this.column = column;
    this.source = source;
  }

  private Values values() {
    if (values == null) {
      values = source.get();
    }
    return values;
  }

  private PrimitiveVector elements() {
    if (elements == null) {
      elements = new PrimitiveVector(column.type().sqlType(), values().data());
    }
    return elements;
  }

  /** Some types are wider in Spark than in a store; those do not have their values packed. */
  @Override
  public ByteBuffer packed(DType type, int count) {
    if (column.type().stored() != type || column.isRagged() || column.elements() != count) {
      return null;
    }
    ByteBuffer packed = values().packed();
    long expected = (long) values.rows() * count * type.bytes();
    return packed == null || packed.remaining() != expected ? null : packed;
  }

  @Override
  public boolean hasNull() {
    return column.isNullable() && values().hasNull();
  }

  @Override
  public int numNulls() {
    if (!hasNull()) {
      return 0;
    }
    int count = 0;
    for (int row = 0; row < values.rows(); row++) {
      count += values.isNull(row) ? 1 : 0;
    }
    return count;
  }

  @Override
  public boolean isNullAt(int row) {
    return column.isNullable() && values().isNull(row);
  }

  @Override
  public boolean getBoolean(int row) {
    return elements().getBoolean(row);
  }

  @Override
  public byte getByte(int row) {
    return elements().getByte(row);
  }

  @Override
  public short getShort(int row) {
    return elements().getShort(row);
  }

  @Override
  public int getInt(int row) {
    return elements().getInt(row);
  }

  @Override
  public long getLong(int row) {
    return elements().getLong(row);
  }

  @Override
  public float getFloat(int row) {
    return elements().getFloat(row);
  }

  @Override
  public double getDouble(int row) {
    return elements().getDouble(row);
  }

  @Override
  public ColumnarArray getArray(int row) {
    Values all = values();
    return new ColumnarArray(elements(), all.start(row), all.length(row));
  }

  @Override
  public byte[] getBinary(int row) {
    Values all = values();
    return java.util.Arrays.copyOfRange(
        (byte[]) all.data(), all.start(row), all.start(row) + all.length(row));
  }

  @Override
  public UTF8String getUTF8String(int row) {
    return UTF8String.fromString(((String[]) values().data())[row]);
  }

  @Override
  public void close() {
    values = null;
    elements = null;
  }
}
