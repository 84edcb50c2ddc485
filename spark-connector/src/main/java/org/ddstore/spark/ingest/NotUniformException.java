// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.ddstore.types.DDStoreException;

/**
 * Signals that a column assumed to be uniform is not; {@link IngestPlan#with(NotUniformException)}
 * returns the corrected plan. Not a data error.
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

  /** Returns the global index of a row that differs. */
  public long row() {
    return row;
  }

  /** Returns the minimum form that the column needs. */
  public ArrayForm form() {
    return form;
  }
}
