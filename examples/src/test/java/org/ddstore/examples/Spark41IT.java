// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

/** The runtime jar on Spark 4.1. */
class Spark41IT extends OnSparkRelease {
  Spark41IT() {
    super(SparkHome.other("4.1", "2.13"), FEW_EXECUTORS, FEW_ROWS);
  }
}
