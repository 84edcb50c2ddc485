package org.ddstore.spark.source;

import java.util.Arrays;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.ddstore.types.DType;

/**
 * Arrays of numbers, nested as the type says, in row-major order. Every array is a column of its
 * own over its elements, so it stays right when the next row is asked for.
 */
final class ArrayVector extends FieldVector {
  private final DType stored;
  private final Places places;
  private final int[] counts;
  private final int[] lengths;

  /**
   * @param places of the first element
   * @param counts by row, instead of the outermost length; null if all have that
   * @param lengths elements of each level of nesting, the outermost first
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
