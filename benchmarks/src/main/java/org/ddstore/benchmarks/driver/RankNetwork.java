// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.driver;

import java.io.Serializable;
import org.ddstore.StoreOptions;

/**
 * The number of ranks of a measurement and the connection between them.
 *
 * @param transport transport of rows not reachable through memory, one of {@link
 *     org.ddstore.transport.TransportProviders#names}
 * @param shortcut whether rows are read through memory where possible
 * @param encrypted whether the transport is authenticated and encrypted
 */
public record RankNetwork(int ranks, String transport, boolean shortcut, boolean encrypted)
    implements Serializable {
  private static final long serialVersionUID = 1L;
  public static final int MAX_RANKS = 64;

  public StoreOptions storeOptions() {
    return StoreOptions.defaults().shortcut(shortcut);
  }
}
