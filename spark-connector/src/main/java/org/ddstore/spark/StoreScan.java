package org.ddstore.spark;

import org.apache.spark.sql.connector.read.Scan;

/** A scan of a resident store in a plan of Spark. */
public interface StoreScan extends Scan {
  /** Whether it reads other rows than those that the store of its name has now. */
  boolean isStale(ResidentStore now);
}
