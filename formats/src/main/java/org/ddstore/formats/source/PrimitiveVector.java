// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.util.Arrays;
import org.apache.spark.sql.types.DataType;
import org.ddstore.spark.source.FieldVector;

/** The numbers of a Java array, without nulls. Ranges are copied in bulk. */
final class PrimitiveVector extends FieldVector {
  private final Object data;

  PrimitiveVector(DataType type, Object data) {
    super(type);
    this.data = data;
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
}
