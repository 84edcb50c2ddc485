// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.Map;
import org.apache.spark.sql.SparkSession;

/** Sparks of one JVM: the one that tests share, and others that end with a class of tests. */
public final class LocalSpark {
  private static SparkSession shared;

  private LocalSpark() {}

  /** Returns the session that the tests of this JVM share. */
  public static SparkSession session() {
    return session("local[2]");
  }

  public static synchronized SparkSession session(String master) {
    if (shared == null
        || shared.sparkContext().isStopped()
        || !shared.sparkContext().master().equals(master)) {
      if (shared != null) {
        shared.stop();
      }
      shared = start(master, Map.of("spark.sql.shuffle.partitions", "4"));
      shared.sparkContext().setLogLevel("ERROR");
    }
    return shared;
  }

  /** Starts a Spark of the caller's own, without logs. Ends any other Spark of this JVM. */
  public static SparkSession start(String master, Map<String, String> settings) {
    TestCluster.stopOthers();
    SparkSession.Builder builder =
        SparkSession.builder()
            .master(master)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/warehouse");
    settings.forEach(builder::config);
    SparkSession session = builder.getOrCreate();
    session.sparkContext().setLogLevel("OFF");
    return session;
  }
}
