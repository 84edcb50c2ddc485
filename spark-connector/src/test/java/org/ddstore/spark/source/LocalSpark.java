// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.TestCluster;

/**
 * The Spark of tests that need none in particular: the one of this JVM if it is local, else a small
 * one.
 */
final class LocalSpark {
  private LocalSpark() {}

  static SparkSession session() {
    TestCluster.stopKept();
    SparkSession session =
        SparkSession.builder()
            .master("local[2]")
            .appName("source tests")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/warehouse")
            .getOrCreate();
    session.sparkContext().setLogLevel("ERROR");
    return session;
  }
}
