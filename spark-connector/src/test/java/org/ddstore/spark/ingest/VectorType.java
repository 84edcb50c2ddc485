// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.UserDefinedType;

/** A vector type as a library would declare it. Spark makes it by its name. */
public final class VectorType extends UserDefinedType<double[]> {
  private static final long serialVersionUID = 1L;

  public VectorType() {}

  @Override
  public DataType sqlType() {
    return DataType.fromDDL("type tinyint, size int, indices array<int>, values array<double>");
  }

  @Override
  public Object serialize(double[] values) {
    GenericInternalRow row = new GenericInternalRow(4);
    row.setByte(0, (byte) 1);
    row.update(3, UnsafeArrayData.fromPrimitiveArray(values));
    return row;
  }

  @Override
  public double[] deserialize(Object datum) {
    return ((InternalRow) datum).getArray(3).toDoubleArray();
  }

  @Override
  public Class<double[]> userClass() {
    return double[].class;
  }
}
