// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/**
 * Thrown when a value or type of a column cannot be stored in its field. A retry fails in the same
 * way.
 */
public class IngestException extends DDStoreException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  /** The {@link #row()} of a failure that concerns the type of the column. */
  public static final long NO_ROW = -1;

  private final String column;
  private final long row;

  /**
   * @param column name of the column
   * @param row global index of the row, or {@link #NO_ROW}
   * @param problem description of the value and its remedy
   */
  public IngestException(String column, long row, String problem) {
    super(
        row == NO_ROW
            ? "column \"%s\": %s".formatted(column, problem)
            : "column \"%s\", row %,d: %s".formatted(column, row, problem));
    this.column = column;
    this.row = row;
  }

  /** {@return the name of the column} */
  public String column() {
    return column;
  }

  /** {@return the global index of the row, or {@link #NO_ROW}} */
  public long row() {
    return row;
  }
}
