// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import org.ddstore.types.Internal;

/** A Spark SQL table that reads a resident store. */
@Internal
public interface StoreTable {
  /** {@return the name of the store} */
  String storeName();
}
