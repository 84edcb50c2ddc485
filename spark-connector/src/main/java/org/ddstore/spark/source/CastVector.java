// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;
import org.ddstore.types.DType;

/** A column of numbers stored in another type than the column's, cast back on read. */
final class CastVector extends FieldVector {
  private final DType stored;
  private final Places places;

  CastVector(DataType type, DType stored, Places places) {
    super(type);
    this.stored = stored;
    this.places = places;
  }

  @Override
  public boolean getBoolean(int row) {
    return getLong(row) != 0;
  }

  @Override
  public byte getByte(int row) {
    return (byte) getLong(row);
  }

  @Override
  public short getShort(int row) {
    return (short) getLong(row);
  }

  @Override
  public int getInt(int row) {
    return (int) getLong(row);
  }

  @Override
  public float getFloat(int row) {
    return (float) getDouble(row);
  }

  @Override
  public long getLong(int row) {
    long at = places.at(row);
    return switch (stored) {
      case BOOL, UINT8 -> Byte.toUnsignedLong(Platform.getByte(null, at));
      case INT8 -> Platform.getByte(null, at);
      case INT16, FLOAT16, BFLOAT16 -> Platform.getShort(null, at);
      case INT32 -> Platform.getInt(null, at);
      case INT64 -> Platform.getLong(null, at);
      case FLOAT32 -> (long) Platform.getFloat(null, at);
      case FLOAT64 -> (long) Platform.getDouble(null, at);
    };
  }

  @Override
  public double getDouble(int row) {
    return switch (stored) {
      case FLOAT32 -> Platform.getFloat(null, places.at(row));
      case FLOAT64 -> Platform.getDouble(null, places.at(row));
      default -> getLong(row);
    };
  }
}
