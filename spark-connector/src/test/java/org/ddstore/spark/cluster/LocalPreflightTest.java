// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.report.ClusterReport;
import org.ddstore.spark.report.TransportReport;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.PreflightException.Problem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Preflight on a Spark of one JVM. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LocalPreflightTest {
  private static final Settings DEFAULTS = Settings.of(Map.of());
  private static SparkSession session;

  @BeforeAll
  static void start() {
    TestCluster.stopOthers();
    session =
        SparkSession.builder()
            .master("local[4]")
            .config("spark.ui.enabled", "false")
            .config("spark.task.cpus", "2")
            .getOrCreate();
  }

  @AfterAll
  static void stop() {
    session.stop();
  }

  /** Spark itself would look for ten minutes. */
  @Test
  @Timeout(value = 5, unit = TimeUnit.SECONDS)
  void failsAtOnceWithTooFewSlots() {
    assertThatExceptionOfType(PreflightException.class)
        .isThrownBy(() -> Preflight.check(session, 3, 0, DEFAULTS))
        .withMessage(
            """
            cannot run 3 ranks here:
            - 3 ranks need 3 slots, 2 available: 1 executor, 4 cores, 2 CPUs per task
              -> spark.ddstore.ranks=2, or local[6] as master, or spark.task.cpus=1\
            """);
  }

  @Test
  void sufficientMemoryPasses() {
    ClusterFacts cluster = Preflight.check(session, 2, 1, DEFAULTS);

    assertThat(cluster.slots()).isEqualTo(2);
    assertThat(cluster.executors()).extracting(ClusterFacts.Executor::id).containsExactly("driver");
    assertThat(cluster.overheadBytes()).isNull();
  }

  @Test
  void checksConnectionSettings() {
    String key = "spark.ddstore.io.serverThreads";
    session.sparkContext().conf().set(key, "many");
    try {
      Problem problem =
          new Problem(
              "setting " + key + "=many is not a whole number of 0 to 256",
              "set a legal value, or none");
      assertThatExceptionOfType(PreflightException.class)
          .isThrownBy(() -> Preflight.check(session, 2, 1, DEFAULTS))
          .satisfies(thrown -> assertThat(thrown.problems()).containsExactly(problem));
      assertThat(ClusterReport.of(session, Duration.ofSeconds(30)).problems()).contains(problem);
    } finally {
      session.sparkContext().conf().remove(key);
    }
  }

  @Test
  void checksSharedMemoryOfThisHost() {
    assertThatExceptionOfType(PreflightException.class)
        .isThrownBy(() -> Preflight.check(session, 2, 1L << 60, DEFAULTS))
        .satisfies(
            thrown ->
                assertThat(thrown.problems())
                    .singleElement()
                    .extracting(Problem::missing)
                    .asString()
                    .startsWith("2 ranks on this host need 1024.00 PiB in /dev/shm, which has"));
  }

  @Test
  void ranksAreAllSlotsByDefault() {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());

    assertThat(Preflight.ranks(context, DEFAULTS)).isEqualTo(2);
    assertThat(Preflight.ranks(context, DEFAULTS.with(Setting.RANKS, 9))).isEqualTo(9);
  }

  @Test
  void reportNamesTheOnlyExecutor() {
    ClusterReport report = ClusterReport.of(session, Duration.ofSeconds(30));

    assertThat(report.problems()).isEmpty();
    assertThat(report.silent()).isEmpty();
    assertThat(report.executors())
        .singleElement()
        .satisfies(
            executor -> {
              assertThat(executor.host().executorId()).isEqualTo("driver");
              assertThat(executor.sparkVersion()).isEqualTo(System.getProperty("spark.version"));
              assertThat(executor.scalaVersion()).startsWith("2.13.");
              assertThat(executor.transports())
                  .extracting(TransportReport::name)
                  .containsExactly("own process", "same host", "tcp", "fabric", "mpi");
              assertThat(executor.transports())
                  .filteredOn(TransportReport::available)
                  .extracting(TransportReport::name)
                  .contains("own process", "same host");
            });
  }
}
