package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/**
 * The data of a column cannot become its field. The same data fail in the same way again: a retry
 * is of no use.
 */
public class IngestException extends DDStoreException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  /** The {@link #row()} of a column whose type is at fault. */
  public static final long NO_ROW = -1;

  private final String column;
  private final long row;

  /**
   * @param row the global index, or {@link #NO_ROW}
   */
  public IngestException(String column, long row, String problem) {
    super(
        row == NO_ROW
            ? "column \"%s\": %s".formatted(column, problem)
            : "column \"%s\", row %,d: %s".formatted(column, row, problem));
    this.column = column;
    this.row = row;
  }

  public String column() {
    return column;
  }

  /** The global index of the row, or {@link #NO_ROW}. */
  public long row() {
    return row;
  }
}
