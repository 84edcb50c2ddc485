// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

/** The runtime jar on Spark 3.5. */
class Spark35IT extends OnSparkRelease {
  Spark35IT() {
    super(SparkHome.other("3.5", "2.13"), FEW_EXECUTORS, FEW_ROWS);
  }
}
