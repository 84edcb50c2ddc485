// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.ddstore.formats.ElementType;

/**
 * The matrix {@code X}, or one of the layers: a row for each observation, a column for each gene.
 */
abstract class Matrix {
  private static final String CSC_REMEDY =
      "has compressed columns (csc_matrix), whose rows cannot be read alone: convert it with a.X ="
          + " a.X.tocsr() and write the file again";

  private final long rows;
  private final long genes;

  Matrix(long rows, long genes) {
    this.rows = rows;
    this.genes = genes;
  }

  static Matrix open(ArrayTree tree, String path) throws IOException {
    String encoding = Encoding.of(tree, path);
    if (tree.isArray(path)) {
      if (!encoding.isEmpty() && !encoding.equals(Encoding.ARRAY)) {
        throw Encoding.unsupported(tree, path, encoding, "array or csr_matrix");
      }
      return new DenseMatrix(tree.array(path));
    }
    if (!tree.isGroup(path)) {
      throw tree.problem(path, "missing: select what the file has by the options x and layers");
    }
    if (encoding.startsWith("csc")) {
      throw tree.problem(path, CSC_REMEDY);
    }
    if (!encoding.startsWith("csr")) {
      throw Encoding.unsupported(tree, path, encoding, "array or csr_matrix");
    }
    return CsrMatrix.open(tree, path);
  }

  final long rows() {
    return rows;
  }

  final long genes() {
    return genes;
  }

  abstract ElementType type();

  abstract boolean isSparse();

  /** Returns the number of rows that are decoded together. */
  abstract int runRows();

  /** Returns the mean number of values that are stored of a row. */
  abstract int meanLength();

  /** Returns rows with a value for each gene of the data set, valid until the next call. */
  abstract ByteBuffer dense(long from, int count, GeneMap map) throws IOException;

  /** Returns rows with the stored values, or those that are not 0. */
  abstract SparseRows sparse(long from, int count, GeneMap map) throws IOException;
}
