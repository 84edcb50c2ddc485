package org.ddstore.spark;

import org.apache.spark.sql.connector.read.Scan;
import org.ddstore.types.Internal;

/** A scan of a resident store in a plan of Spark. */
@Internal
public interface StoreScan extends Scan {
  /** Whether it reads other rows than those that the store of its name has now. */
  boolean isStale(ResidentStore now);
}
