package org.ddstore.cli;

import java.io.Serializable;
import org.ddstore.StoreOptions;

/**
 * How many ranks a measurement has, and how they reach each other.
 *
 * @param transport for rows that memory does not reach, one of {@link
 *     org.ddstore.spark.job.TransportChoice#NAMES}
 * @param shortcut whether memory is used where it can be
 * @param encrypted whether the transport is authenticated and encrypted
 */
record RankNetwork(int ranks, String transport, boolean shortcut, boolean encrypted)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Of a store that is reached so. */
  StoreOptions storeOptions() {
    return StoreOptions.defaults().withShortcut(shortcut);
  }
}
