// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.types.DataTypes;

/** A column of the global indices of the rows of a batch. */
final class IndexVector extends FieldVector {
  private final long first;
  private final long[] indices;

  private IndexVector(long first, long... indices) {
    super(DataTypes.LongType);
    this.first = first;
    this.indices = indices;
  }

  static IndexVector from(long first) {
    return new IndexVector(first, (long[]) null);
  }

  /** Returns a column of arbitrary indices, which are not copied. */
  static IndexVector of(long... indices) {
    return new IndexVector(0, indices);
  }

  @Override
  public long getLong(int row) {
    return indices == null ? first + row : indices[row];
  }
}
