// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

/**
 * The storage form of an undeclared column of arrays or vectors. Rows that fit a form also fit all
 * later constants, so the form of a column is the maximum over its rows, independent of their
 * distribution over ranks.
 */
public enum ArrayForm {
  /** All rows have the same length above zero. */
  UNIFORM,
  RAGGED,
  /** Vectors only, stored as size, indices and values. */
  SPARSE
}
