package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.ddstore.hosts.Requirements;
import org.ddstore.hosts.TwoHosts;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store as a table on a cluster of two hosts, each with a network and a /dev/shm of its own:
 * every type, read where it is and over the network, equals its source.
 */
@Tag("system")
@Tag("slow")
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class SqlOnTwoHostsIT {
  private static final String PROGRAM = "org.ddstore.spark.source.SpreadScanProgram";
  private static final int ROWS = 20_000;

  /** Six JVMs share the processors of one machine. */
  private static final Duration LIMIT = Duration.ofMinutes(8);

  /** Where the program is: the connector's tests. */
  private static final Path TESTS =
      Path.of(System.getProperty("ddstore.root"), "spark-connector/target/test-classes");

  @TempDir private Path work;

  @BeforeAll
  static void onlyWhereTwoHostsCanBe() {
    Optional<String> missing = Requirements.missing();
    assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
  }

  @Test
  void everyRowComesBackFromBothHosts() throws Exception {
    SparkHome spark = SparkHome.current();
    try (TwoHosts hosts = TwoHosts.open()) {
      StandaloneCluster cluster = StandaloneCluster.start(spark, work, hosts, 1);
      Program program;
      try {
        Path folder = Files.createDirectory(work.resolve("driver"));
        program =
            Program.run(
                folder,
                SparkHome.on(
                    hosts.first(),
                    spark.program(folder, spark.classPath(TESTS), submission(cluster, hosts))),
                LIMIT);
      } finally {
        cluster.stop();
      }
      assertThat(program.assertSuccess().lastLine())
          .matches("equal, %d and [12] rows over the network".formatted(ROWS / 2));
      assertThat(hosts.first().files()).as("files left on the first host").isEmpty();
      assertThat(hosts.second().files()).as("files left on the second host").isEmpty();
    }
  }

  private static List<String> submission(StandaloneCluster cluster, TwoHosts hosts) {
    return List.of(
        "org.apache.spark.deploy.SparkSubmit",
        "--master",
        cluster.master(),
        "--conf",
        "spark.driver.host=" + hosts.first().address(),
        "--conf",
        "spark.driver.bindAddress=" + hosts.first().address(),
        "--conf",
        "spark.ui.enabled=false",
        "--conf",
        "spark.executor.memory=1g",
        "--conf",
        "spark.sql.adaptive.enabled=false",
        "--conf",
        "spark.sql.shuffle.partitions=4",
        "--jars",
        SparkHome.RUNTIME_JAR.toString(),
        "--class",
        PROGRAM,
        "spark-internal",
        Integer.toString(ROWS),
        "2");
  }
}
