package org.ddstore.spark;

/** A table of Spark SQL whose rows are those of a resident store. */
public interface StoreTable {
  /** The name of the store. */
  String storeName();
}
