package org.ddstore.spark;

import org.ddstore.spark.resident.StoreSnapshot;
import org.ddstore.types.Internal;

/** Gives the data source the state of a store that a handle holds. Not for users. */
@Internal
public final class StoreSnapshots {
  private StoreSnapshots() {}

  /** Returns the state of a store that a handle holds. */
  public static StoreSnapshot of(StoreHandle handle) {
    return handle.snapshot();
  }
}
