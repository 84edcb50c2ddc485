// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

/** The part of NumPy arrays that forms a row. */
enum RowLayout {
  /** An index of the first axis of an array. */
  ROWS,
  /** All of a file. */
  SAMPLES,
  /** An index of the first axis of all arrays of a folder, each of which is a column. */
  COLUMNS
}
