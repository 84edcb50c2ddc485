// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import org.ddstore.spark.resident.StoreSnapshot;
import org.ddstore.types.Internal;

/** The access of the data source to the snapshot in a handle. Not part of the public API. */
@Internal
public final class StoreSnapshots {
  private StoreSnapshots() {}

  /**
   * {@return the snapshot that a handle holds}
   *
   * @param handle handle of a resident store
   */
  public static StoreSnapshot of(StoreHandle handle) {
    return handle.snapshot();
  }
}
