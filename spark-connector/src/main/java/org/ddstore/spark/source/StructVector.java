// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;

/** A column of structs, composed of the columns of their fields. */
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
