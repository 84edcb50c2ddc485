// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.util.LinkedHashMap;
import java.util.Map;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.ReadGrants;

/**
 * The grants of stores that this process left last, so that it can tell a reader with a valid key
 * that the store is gone. Thread-safe.
 */
final class RecentGrants {
  private static final int MAX_STORES = 256;

  private final Map<Nonce, ReadGrants> left =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Nonce, ReadGrants> eldest) {
          return size() > MAX_STORES;
        }
      };

  /** Closes the grants of a store, and keeps them if outsiders can have keys. */
  synchronized void add(Nonce store, ReadGrants grants) {
    grants.close();
    if (grants.isOpen()) {
      left.put(store, grants);
    }
  }

  /** Returns the grants of a store, or null. */
  synchronized ReadGrants of(Nonce store) {
    return left.get(store);
  }
}
