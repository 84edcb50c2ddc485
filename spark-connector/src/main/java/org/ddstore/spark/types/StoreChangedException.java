package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;

/**
 * A store was to be replaced by rows of itself from before another write, whose rows would be lost.
 * Nothing was changed.
 */
public final class StoreChangedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final String store;

  public StoreChangedException(String store, long rows) {
    super(
        "store \"%s\" was written after Spark cached the rows that are to replace it, and has %,d rows now: unpersist() the DataFrame, or UNCACHE TABLE, and write again"
            .formatted(store, rows));
    this.store = store;
  }

  /** The name of the store. */
  public String store() {
    return store;
  }
}
