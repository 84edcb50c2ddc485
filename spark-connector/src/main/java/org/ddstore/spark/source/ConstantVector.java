// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.types.DataType;

/** A column for the parts of a Spark ML vector implied by its form: the type tag, or null. */
final class ConstantVector extends FieldVector {
  private final Byte value;

  /**
   * @param value value of every row; null for a column of nulls
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
