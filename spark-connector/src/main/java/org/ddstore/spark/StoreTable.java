package org.ddstore.spark;

import org.ddstore.types.Internal;

/** A Spark SQL table that reads a resident store. */
@Internal
public interface StoreTable {
  /** Returns the name of the store. */
  String storeName();
}
