// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.util.Arrays;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/** The numbers of a Java array, without nulls. Ranges are copied in bulk. */
final class PrimitiveVector extends ColumnVector {
  private final Object data;

  /**
   * @param type SQL type of an element
   * @param data array of the Java type that Spark uses for it
   */
  PrimitiveVector(DataType type, Object data) {
    super(type);
    this.data = data;
  }

  @Override
  public boolean hasNull() {
    return false;
  }

  @Override
  public int numNulls() {
    return 0;
  }

  @Override
  public boolean isNullAt(int at) {
    return false;
  }

  @Override
  public boolean getBoolean(int at) {
    return ((boolean[]) data)[at];
  }

  @Override
  public boolean[] getBooleans(int from, int count) {
    return Arrays.copyOfRange((boolean[]) data, from, from + count);
  }

  @Override
  public byte getByte(int at) {
    return ((byte[]) data)[at];
  }

  @Override
  public byte[] getBytes(int from, int count) {
    return Arrays.copyOfRange((byte[]) data, from, from + count);
  }

  @Override
  public short getShort(int at) {
    return ((short[]) data)[at];
  }

  @Override
  public short[] getShorts(int from, int count) {
    return Arrays.copyOfRange((short[]) data, from, from + count);
  }

  @Override
  public int getInt(int at) {
    return ((int[]) data)[at];
  }

  @Override
  public int[] getInts(int from, int count) {
    return Arrays.copyOfRange((int[]) data, from, from + count);
  }

  @Override
  public long getLong(int at) {
    return ((long[]) data)[at];
  }

  @Override
  public long[] getLongs(int from, int count) {
    return Arrays.copyOfRange((long[]) data, from, from + count);
  }

  @Override
  public float getFloat(int at) {
    return ((float[]) data)[at];
  }

  @Override
  public float[] getFloats(int from, int count) {
    return Arrays.copyOfRange((float[]) data, from, from + count);
  }

  @Override
  public double getDouble(int at) {
    return ((double[]) data)[at];
  }

  @Override
  public double[] getDoubles(int from, int count) {
    return Arrays.copyOfRange((double[]) data, from, from + count);
  }

  @Override
  public ColumnarArray getArray(int at) {
    throw noElement();
  }

  @Override
  public ColumnarMap getMap(int at) {
    throw noElement();
  }

  @Override
  public Decimal getDecimal(int at, int precision, int scale) {
    throw noElement();
  }

  @Override
  public UTF8String getUTF8String(int at) {
    throw noElement();
  }

  @Override
  public byte[] getBinary(int at) {
    throw noElement();
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    throw noElement();
  }

  private static UnsupportedOperationException noElement() {
    return new UnsupportedOperationException("elements are numbers");
  }

  @Override
  public void close() {}
}
