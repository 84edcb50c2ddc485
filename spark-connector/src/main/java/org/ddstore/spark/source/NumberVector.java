// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/**
 * A column of numbers stored in Spark's binary form: booleans, integers, floating-point numbers,
 * and dates and timestamps, which are integers.
 */
final class NumberVector extends FieldVector {
  private final Places places;

  /**
   * @param type type whose values Spark keeps in the stored number of bytes
   */
  NumberVector(DataType type, Places places) {
    super(type);
    this.places = places;
  }

  @Override
  public boolean getBoolean(int row) {
    return Platform.getByte(null, places.at(row)) != 0;
  }

  @Override
  public byte getByte(int row) {
    return Platform.getByte(null, places.at(row));
  }

  @Override
  public short getShort(int row) {
    return Platform.getShort(null, places.at(row));
  }

  @Override
  public int getInt(int row) {
    return Platform.getInt(null, places.at(row));
  }

  @Override
  public long getLong(int row) {
    return Platform.getLong(null, places.at(row));
  }

  @Override
  public float getFloat(int row) {
    return Platform.getFloat(null, places.at(row));
  }

  @Override
  public double getDouble(int row) {
    return Platform.getDouble(null, places.at(row));
  }
}
