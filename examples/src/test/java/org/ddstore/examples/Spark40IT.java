// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

/** The runtime jar on Spark 4.0. */
class Spark40IT extends OnSparkRelease {
  Spark40IT() {
    super(SparkHome.other("4.0", "2.13"), FEW_EXECUTORS, FEW_ROWS);
  }
}
