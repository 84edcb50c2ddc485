package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/**
 * Lost rows of a resident store were loaded again, and are not what they were: the plan of the
 * DataFrame is not deterministic, or its files have changed. Nothing of the store was changed; what
 * can be done is to drop it and to load it anew.
 */
public final class RebuildDiffersException extends DDStoreException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  private final String store;
  private final int rank;

  public RebuildDiffersException(String store, int rank, String difference) {
    super(
        "the rows of rank %d of \"%s\" are not what they were when they were loaded: %s. The plan of the DataFrame is not deterministic, or its source has changed: drop() the store and load it anew"
            .formatted(rank, store, difference));
    this.store = store;
    this.rank = rank;
  }

  /** The name of the store. */
  public String store() {
    return store;
  }

  /** The rank whose rows differ. */
  public int rank() {
    return rank;
  }
}
