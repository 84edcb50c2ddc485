// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.types.DDStoreException;

/** The Spark application of a round: executors in JVMs of their own, and short time limits. */
final class ChaosSpark {
  private static final int MEMORY_MB = 512;
  private static final long POLL_MS = 50;
  private static final int RETURN_SECONDS = 90;

  private static final String MULTIPLIER = "spark.speculation.multiplier";
  private static final String QUANTILE = "spark.speculation.quantile";

  /**
   * The executors of an application.
   *
   * @param cores slots of each
   */
  record Shape(int executors, int cores) {
    private static final Shape WIDE = new Shape(3, 2);

    /** A rank per executor, as some transports need. */
    private static final Shape SINGLE = new Shape(4, 1);

    static Shape ofRound(int round) {
      return round % 2 == 0 ? WIDE : SINGLE;
    }

    int slots() {
      return executors * cores;
    }
  }

  private ChaosSpark() {}

  private static Map<String, String> settings(Shape shape) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("spark.ddstore.readTimeout", "10s");
    settings.put("spark.ddstore.collectiveTimeout", "20s");
    settings.put("spark.ddstore.finishTimeout", "30s");
    settings.put("spark.ddstore.slotsTimeout", "10s");
    settings.put("spark.ddstore.closeTimeout", "5s");
    settings.put("spark.ddstore.writeTimeout", "60s");
    settings.put("spark.network.timeout", "60s"); // longer than a process is stopped
    settings.put("spark.deploy.maxExecutorRetries", "-1");
    settings.put("spark.sql.shuffle.partitions", "2");
    settings.put("spark.executor.cores", "" + shape.cores());
    settings.put("spark.cores.max", "" + shape.slots());
    settings.put(
        "spark.executor.extraJavaOptions", // many start, and compete with the others
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    settings.put("spark.executor.memory", MEMORY_MB + "m");
    settings.put("spark.speculation", "true");
    settings.put("spark.speculation.interval", "50ms");
    settings.put("spark.speculation.minTaskRuntime", "1ms");
    settings.putAll(speculation(false));
    return settings;
  }

  static EmbeddedSpark open(Shape shape) {
    return EmbeddedSpark.open(
        "ddstore chaos", shape.executors(), shape.cores(), MEMORY_MB, settings(shape));
  }

  /** Settings by which tasks are, or are not, executed speculatively. */
  private static Map<String, String> speculation(boolean isOn) {
    return isOn
        ? Map.of(MULTIPLIER, "0.1", QUANTILE, "0.1")
        : Map.of(MULTIPLIER, "1000000", QUANTILE, "1.0");
  }

  /** Switches speculation for the stages that are submitted from now on. */
  static void speculate(SparkSession session, boolean isOn) {
    SparkConf conf = session.sparkContext().conf();
    speculation(isOn).forEach(conf::set);
  }

  /**
   * Waits until all executors have registered.
   *
   * @throws DDStoreException if executors that have ended do not return
   */
  static void awaitExecutors(SparkSession session, Shape shape) throws InterruptedException {
    int polls = (int) (1000L * RETURN_SECONDS / POLL_MS);
    for (int i = 0; executors(session) < shape.executors(); i++) {
      if (i == polls) {
        throw new DDStoreException(
            "%d executors of %d after %d s"
                .formatted(executors(session), shape.executors(), RETURN_SECONDS));
      }
      Thread.sleep(POLL_MS);
    }
  }

  private static int executors(SparkSession session) {
    return session.sparkContext().statusTracker().getExecutorInfos().length - 1; // the driver
  }
}
