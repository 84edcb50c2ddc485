// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.ReadGrants;

/** The stores of this process. Thread-safe. */
public interface ServedStores {
  /** Returns the number that distinguishes this process from others that used the same port. */
  long processId();

  /** Returns the rows of a store, or null. */
  GatherServer rows(Nonce store);

  /** Returns who may read a store that this process has, or had lately; null for others. */
  ReadGrants grants(Nonce store);
}
