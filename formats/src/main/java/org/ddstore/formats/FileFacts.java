// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.Serializable;
import java.util.List;
import java.util.Objects;

/**
 * Properties of one file, or of one folder that is read as a unit, in the plan of a scan.
 *
 * @param file the file
 * @param rows number of its rows
 * @param runRows number of rows that are decoded together, such as those of one chunk; 1 if each
 *     row can be read alone
 * @param splitRows number of rows at whose multiples partitions begin, a multiple of {@code
 *     runRows}; {@code rows} for a file that can only be read from its start
 * @param columns columns of the file, in its own order
 * @param details what the format needs to open the file; null if nothing
 */
public record FileFacts(
    InputFile file,
    long rows,
    int runRows,
    long splitRows,
    List<SampleColumn> columns,
    Serializable details)
    implements Serializable {
  /**
   * Creates facts and checks their ranges.
   *
   * @param file the file
   * @param rows number of its rows, at least 0
   * @param runRows number of rows that are decoded together, at least 1
   * @param splitRows number of rows at whose multiples partitions begin, at least 1
   * @param columns columns of the file, in its own order
   * @param details what the format needs to open the file; null if nothing
   */
  public FileFacts {
    Objects.requireNonNull(file, "file is null");
    columns = List.copyOf(columns);
    if (rows < 0 || runRows < 1 || splitRows < 1) {
      throw new IllegalArgumentException(
          "%s: %d rows in runs of %d, split at %d".formatted(file, rows, runRows, splitRows));
    }
  }

  /**
   * Creates facts of a file whose partitions begin at multiples of {@code runRows}.
   *
   * @param file the file
   * @param rows number of its rows, at least 0
   * @param runRows number of rows that are decoded together, at least 1
   * @param columns columns of the file, in its own order
   * @param details what the format needs to open the file; null if nothing
   */
  public FileFacts(
      InputFile file, long rows, int runRows, List<SampleColumn> columns, Serializable details) {
    this(file, rows, runRows, runRows, columns, details);
  }
}
