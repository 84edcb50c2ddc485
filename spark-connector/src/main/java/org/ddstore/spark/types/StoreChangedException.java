// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;

/**
 * Thrown when a store would be replaced by a cached, older state of itself, which would lose the
 * rows of a later write. The store is unchanged.
 */
public final class StoreChangedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final String store;

  /**
   * Creates an exception for a store that has changed.
   *
   * @param store name of the store
   * @param rows number of rows of the current store
   */
  public StoreChangedException(String store, long rows) {
    super(
        "store \"%s\" was written after Spark cached the rows that are to replace it, and has %,d rows now: unpersist() the DataFrame, or UNCACHE TABLE, and write again"
            .formatted(store, rows));
    this.store = store;
  }

  /** {@return the name of the store} */
  public String store() {
    return store;
  }
}
