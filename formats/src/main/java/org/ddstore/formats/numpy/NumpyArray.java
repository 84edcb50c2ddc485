// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.Serializable;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.SampleColumn;

/**
 * An array of NumPy in a file of its own or in an archive, and the column that it becomes.
 *
 * @param file file that contains the array
 * @param entry place of the array in an archive; null if the file is the array
 * @param header header of the array, with a first axis of rows
 * @param column column whose values are the rows
 */
record NumpyArray(InputFile file, NpzEntry entry, NpyHeader header, SampleColumn column)
    implements Serializable {

  static NumpyArray of(
      InputFile file, NpzEntry entry, NpyHeader header, String name, RowLayout layout) {
    NpyHeader rows = layout == RowLayout.SAMPLES ? header.asOneRow() : header;
    NumpyArray array = new NumpyArray(file, entry, rows, rows.column(name));
    array.requireComplete();
    return array;
  }

  private void requireComplete() {
    long expected = header.end();
    long found = entry == null ? file.length() : entry.bytes();
    if (found < expected) {
      throw new FormatException(
          header.file(),
          "truncated: the header declares %,d bytes, the %s has %,d"
              .formatted(expected, entry == null ? "file" : "member", found));
    }
  }

  boolean isDeflated() {
    return entry != null && entry.isDeflated();
  }

  long rows() {
    return header.rows();
  }
}
