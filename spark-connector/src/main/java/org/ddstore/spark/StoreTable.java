package org.ddstore.spark;

import org.ddstore.types.Internal;

/** A table of Spark SQL whose rows are those of a resident store. */
@Internal
public interface StoreTable {
  /** The name of the store. */
  String storeName();
}
