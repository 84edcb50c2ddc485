// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/**
 * Thrown when lost rows of a resident store were loaded again and differ from the original rows:
 * the plan of the DataFrame is not deterministic, or its files have changed. The store is
 * unchanged. The remedy is to drop the store and load it anew.
 */
public final class RebuildDiffersException extends DDStoreException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  private final String store;
  private final int rank;

  /**
   * Creates an exception.
   *
   * @param store name of the store
   * @param rank rank of the shard
   * @param difference difference between the lost and the reloaded rows
   */
  public RebuildDiffersException(String store, int rank, String difference) {
    super(
        "reloaded rows of rank %d of \"%s\" differ from the first load: %s. The plan of the DataFrame is not deterministic, or its source has changed: drop() the store and load it anew"
            .formatted(rank, store, difference));
    this.store = store;
    this.rank = rank;
  }

  /** {@return the name of the store} */
  public String store() {
    return store;
  }

  /** {@return the rank whose rows differ} */
  public int rank() {
    return rank;
  }
}
