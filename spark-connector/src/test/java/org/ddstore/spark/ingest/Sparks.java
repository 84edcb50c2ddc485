// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.TestCluster;

/** The Spark that the tests of this JVM share. */
final class Sparks {
  private static SparkSession session;

  private Sparks() {}

  /** {@code local[2]}, until another master was asked for. */
  static SparkSession local() {
    return master("local[2]");
  }

  static synchronized SparkSession master(String master) {
    if (session != null
        && (session.sparkContext().isStopped()
            || !session.sparkContext().master().equals(master))) {
      session.stop();
      session = null;
    }
    if (session == null) {
      TestCluster.stopOthers();
      session =
          SparkSession.builder()
              .master(master)
              .appName("ingest tests")
              .config("spark.ui.enabled", "false")
              .config("spark.sql.shuffle.partitions", "4")
              .config(
                  "spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/warehouse")
              .getOrCreate();
      session.sparkContext().setLogLevel("ERROR");
    }
    return session;
  }

  /** Stops every Spark of this JVM, so that a test can start one of its own. */
  static synchronized void stop() {
    session = null;
    TestCluster.stopOthers();
  }
}
