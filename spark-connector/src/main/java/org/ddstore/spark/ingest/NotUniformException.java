package org.ddstore.spark.ingest;

import org.ddstore.types.DDStoreException;

/**
 * A column that was taken to be uniform is not: {@link IngestPlan#with(NotUniformException)} gives
 * the plan to go on with. Not an error of the data.
 */
public final class NotUniformException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final String column;
  private final long row;
  private final ArrayForm form;

  public NotUniformException(String column, long row, ArrayForm form, String found) {
    super(
        "column \"%s\", row %,d: %s; the column must be loaded as %s"
            .formatted(column, row, found, form));
    this.column = column;
    this.row = row;
    this.form = form;
  }

  public String column() {
    return column;
  }

  /** The global index of a row that differs. */
  public long row() {
    return row;
  }

  /** What the column needs at least. */
  public ArrayForm form() {
    return form;
  }
}
