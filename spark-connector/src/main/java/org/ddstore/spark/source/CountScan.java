// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** A scan that returns the number of rows without a job. */
final class CountScan implements LocalScan {
  private final String store;
  private final long rows;
  private final int columns;

  /**
   * @param columns number of count columns in the result
   */
  CountScan(String store, long rows, int columns) {
    this.store = store;
    this.rows = rows;
    this.columns = columns;
  }

  @Override
  public StructType readSchema() {
    StructType schema = new StructType();
    for (int i = 0; i < columns; i++) {
      schema = schema.add("count_" + i, DataTypes.LongType, false);
    }
    return schema;
  }

  @Override
  public InternalRow[] rows() {
    Object[] values = new Object[columns];
    Arrays.fill(values, rows);
    return new InternalRow[] {new GenericInternalRow(values)};
  }

  @Override
  public String description() {
    return "ddstore %s: %d rows, counted by the catalog".formatted(store, rows);
  }
}
