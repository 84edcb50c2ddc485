// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.ddstore.formats.ElementType;

/** A matrix that stores every value. */
final class DenseMatrix extends Matrix {
  private final StoredArray array;
  private ByteBuffer last;

  DenseMatrix(StoredArray array) {
    super(dimension(array, 0), dimension(array, 1));
    this.array = array;
    if (array.type() == ElementType.TEXT) {
      throw array.problem("has texts, not numbers");
    }
  }

  private static long dimension(StoredArray array, int axis) {
    long[] shape = array.shape();
    if (shape.length != 2) {
      throw array.problem("has %d dimensions, not two".formatted(shape.length));
    }
    return shape[axis];
  }

  @Override
  ElementType type() {
    return array.type();
  }

  @Override
  boolean isSparse() {
    return false;
  }

  @Override
  int runRows() {
    return array.runRows();
  }

  @Override
  int meanLength() {
    return (int) genes();
  }

  @Override
  ByteBuffer dense(long from, int count, GeneMap map) throws IOException {
    last = array.bytes(from, count, last);
    return SparseRows.mapped(last, count, (int) genes(), map, array.type().bytes());
  }

  @Override
  SparseRows sparse(long from, int count, GeneMap map) throws IOException {
    return SparseRows.of(dense(from, count, map), count, map.width(), array.type());
  }
}
