// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.ReadBudget;

/** A matrix of compressed rows: {@code indptr}, and the slices of indices and data it cuts. */
final class CsrMatrix extends Matrix {
  private final StoredArray indptr;
  private final StoredArray indices;
  private final StoredArray data;

  /** For each gene, the number of the checked row that had it last. */
  private long[] seen;

  private long checkedRows;

  private CsrMatrix(StoredArray indptr, StoredArray indices, StoredArray data, long... shape) {
    super(shape[0], shape[1]);
    this.indptr = indptr;
    this.indices = indices;
    this.data = data;
  }

  static CsrMatrix open(ArrayTree tree, String path) throws IOException {
    Optional<long[]> known = tree.integers(path, "shape");
    if (known.isEmpty()) {
      known = tree.integers(path, "h5sparse_shape"); // files before AnnData 0.7
    }
    if (known.isEmpty() || known.get().length != 2) {
      throw tree.problem(path, "the attribute shape is missing or malformed");
    }
    long[] shape = known.get();
    StoredArray indptr = part(tree, path + "/indptr");
    StoredArray indices = part(tree, path + "/indices");
    StoredArray data = part(tree, path + "/data");
    Integers.require(indptr);
    Integers.require(indices);
    if (data.type() == ElementType.TEXT || data.shape().length != 1) {
      throw data.problem("is not a list of numbers");
    }
    if (indptr.shape()[0] != shape[0] + 1 || indices.shape()[0] != data.shape()[0]) {
      throw tree.problem(
          path,
          "%,d rows need %,d offsets, indptr has %,d; indices has %,d values, data %,d: the file is damaged"
              .formatted(
                  shape[0], shape[0] + 1, indptr.shape()[0], indices.shape()[0], data.shape()[0]));
    }
    return new CsrMatrix(indptr, indices, data, shape);
  }

  private static StoredArray part(ArrayTree tree, String path) throws IOException {
    if (!tree.isArray(path)) {
      throw tree.problem(path, "missing: the sparse matrix is damaged");
    }
    return tree.array(path);
  }

  @Override
  ElementType type() {
    return data.type();
  }

  @Override
  boolean isSparse() {
    return true;
  }

  @Override
  int runRows() {
    return 1;
  }

  @Override
  int meanLength() {
    long mean = data.shape()[0] / Math.max(1, rows());
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, mean));
  }

  @Override
  ByteBuffer dense(long from, int count, GeneMap map) throws IOException {
    return sparse(from, count, map).dense(map.width(), type().bytes());
  }

  @Override
  SparseRows sparse(long from, int count, GeneMap map) throws IOException {
    long[] bounds = Integers.longs(indptr, from, count + 1);
    int[] offsets = new int[count + 1];
    long stored = data.shape()[0];
    for (int i = 0; i <= count; i++) {
      long offset = bounds[i] - bounds[0];
      if (bounds[i] < 0 || bounds[i] > stored || (i > 0 && bounds[i] < bounds[i - 1])) {
        throw indptr.problem(
            "offset %,d of row %,d is below its predecessor or outside [0, %,d]: the file is damaged"
                .formatted(bounds[i], from + i, stored));
      }
      if (i > 0 && bounds[i] - bounds[i - 1] > genes()) {
        throw indptr.problem(
            "row %,d has %,d values, there are %,d genes: call sum_duplicates() of the matrix, and write the file again"
                .formatted(from + i - 1, bounds[i] - bounds[i - 1], genes()));
      }
      if (offset > Integer.MAX_VALUE / type().bytes()) {
        throw data.problem(
            "rows [%,d, %,d) have %,d values, one read has at most 2 GiB"
                .formatted(from, from + count, offset));
      }
      offsets[i] = (int) offset;
    }
    int length = offsets[count];
    ReadBudget.requireHeld(
        data.file(), data.path(), (long) length * (Integer.BYTES + type().bytes()));
    int[] genes = Integers.ints(indices, bounds[0], length, 0, (int) genes());
    requireDistinct(from, offsets, genes);
    ByteBuffer values = length == 0 ? ByteBuffer.allocate(0) : data.bytes(bounds[0], length);
    return new SparseRows(offsets, genes, values).mapped(map, type().bytes());
  }

  /** Some libraries add the values of equal indices, others take the last one. */
  private void requireDistinct(long from, int[] offsets, int... genes) {
    if (seen == null) {
      seen = new long[(int) genes()];
    }
    for (int row = 0; row < offsets.length - 1; row++) {
      checkedRows++;
      for (int i = offsets[row]; i < offsets[row + 1]; i++) {
        if (seen[genes[i]] == checkedRows) {
          throw indices.problem(
              "row %,d has index %,d twice: call sum_duplicates() of the matrix, and write the file again"
                  .formatted(from + row, genes[i]));
        }
        seen[genes[i]] = checkedRows;
      }
    }
  }
}
