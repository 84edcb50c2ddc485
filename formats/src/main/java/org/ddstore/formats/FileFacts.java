// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.Serializable;
import java.util.List;
import java.util.Objects;

/**
 * What the plan of a scan knows of one file (or of one folder that is read as a unit).
 *
 * @param file the file
 * @param rows number of its rows
 * @param runRows number of rows that are decoded together, such as those of one chunk; 1 if each row
 *     can be read alone. Partitions begin at multiples of it
 * @param columns columns of the file, in its own order
 * @param details what the format needs to open the file; null if nothing
 */
public record FileFacts(
    InputFile file, long rows, int runRows, List<SampleColumn> columns, Serializable details)
    implements Serializable {
  /** Checks the ranges. */
  public FileFacts {
    Objects.requireNonNull(file, "file is null");
    columns = List.copyOf(columns);
    if (rows < 0 || runRows < 1) {
      throw new IllegalArgumentException(
          "%s: %d rows in runs of %d".formatted(file, rows, runRows));
    }
  }
}
