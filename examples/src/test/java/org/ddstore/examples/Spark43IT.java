// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

/** The runtime jar on Spark 4.3, whose jars come from its package for Python. */
class Spark43IT extends OnSparkRelease {
  Spark43IT() {
    super(PySpark.NEXT.home(), FEW_EXECUTORS, FEW_ROWS);
  }
}
