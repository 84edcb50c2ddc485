// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.Arrays;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.ddstore.types.DType;

/**
 * A column of arrays of numbers, nested by the type, in row-major order. Each array is backed by
 * its own column of elements, so it stays valid when the next row is read.
 */
final class ArrayVector extends FieldVector {
  private final DType stored;
  private final Places places;
  private final int[] counts;
  private final int[] lengths;

  /**
   * @param places address of the first element, by row
   * @param counts outermost length by row; null if all rows have {@code lengths[0]}
   * @param lengths number of elements of each nesting level, outermost first
   */
  ArrayVector(ArrayType type, DType stored, Places places, int[] counts, int... lengths) {
    super(type);
    this.stored = stored;
    this.places = places;
    this.counts = counts;
    this.lengths = lengths;
  }

  @Override
  public ColumnarArray getArray(int row) {
    int count = counts == null ? lengths[0] : counts[row];
    return new ColumnarArray(elements(places.at(row)), 0, count);
  }

  private ColumnVector elements(long address) {
    DataType element = ((ArrayType) type).elementType();
    if (element instanceof ArrayType inner) {
      int[] innerLengths = Arrays.copyOfRange(lengths, 1, lengths.length);
      long step = stored.bytes();
      for (int length : innerLengths) {
        step *= length;
      }
      return new ArrayVector(inner, stored, places.inside(address, step), null, innerLengths);
    }
    return Elements.vector(element, stored, places.inside(address, stored.bytes()));
  }
}
