// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import org.apache.spark.sql.connector.read.Scan;
import org.ddstore.types.Internal;

/** A scan of a resident store in a Spark plan. */
@Internal
public interface StoreScan extends Scan {
  /**
   * {@return whether the scan reads rows that differ from those of the current store of its name}
   *
   * @param now current store of the name
   */
  boolean isStale(ResidentStore now);
}
