package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.Needed;
import org.ddstore.hosts.Requirements;
import org.ddstore.hosts.TwoHosts;
import org.ddstore.mpi.Mpi;
import org.ddstore.transport.Availability;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The demo by MPI on a cluster of two hosts, each with a /dev/shm of its own and two executors of
 * one rank each.
 */
@Tag("system")
@Tag("slow")
@Timeout(value = 1500, unit = TimeUnit.SECONDS)
class MpiOnTwoHostsIT {
  private static final Path MPI_JAR =
      Path.of(System.getProperty("ddstore.root"), "native/mpi/build/mpi.jar");
  private static final int ROWS = 1000;

  /** Eight JVMs share the processors of one machine. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @TempDir static Path data;
  @TempDir Path work;

  @BeforeAll
  static void onlyWhereBothCanBe() throws IOException {
    Availability mpi = Mpi.availability();
    Needed.check("MPI", mpi.isAvailable(), mpi::detail);
    Optional<String> missing = Requirements.missing();
    Needed.check("two hosts", missing.isEmpty(), missing::orElseThrow);
    SampleRows.write(data.resolve("rows"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--no-shortcut"})
  void theDemoFindsNoMismatch(String option) throws Exception {
    SparkHome spark = SparkHome.current();
    try (TwoHosts hosts = TwoHosts.open()) {
      StandaloneCluster cluster = StandaloneCluster.start(spark, work, hosts, 2);
      Program demo;
      try {
        List<String> arguments = new ArrayList<>(submission(cluster, hosts));
        if (!option.isEmpty()) {
          arguments.add(option);
        }
        Path folder = Files.createDirectory(work.resolve("driver"));
        demo =
            Program.run(
                folder,
                SparkHome.on(hosts.first(), spark.program(folder, spark.classPath(), arguments)),
                LIMIT);
      } finally {
        cluster.stop();
      }
      JsonNode json = demo.assertSuccess().json();
      assertThat(json.get("mismatches").asLong()).isZero();
      assertThat(json.get("rowsRead").asLong()).isGreaterThanOrEqualTo(ROWS);
      JsonNode shares = json.get("shares");
      if (option.isEmpty()) {
        assertThat(shares.get("ownProcess").asDouble()).isBetween(0.1, 0.4);
        assertThat(shares.get("sameHost").asDouble()).isBetween(0.1, 0.4);
        assertThat(shares.get("remote").asDouble()).isBetween(0.3, 0.7);
      } else {
        assertThat(shares.get("remote").asDouble()).isEqualTo(1);
      }
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
        "spark.executor.cores=1",
        "--conf",
        "spark.executor.memory=512m",
        "--jars",
        MPI_JAR.toString(),
        "--class",
        "org.ddstore.cli.Main",
        SparkHome.RUNTIME_JAR.toString(),
        "demo",
        "--transport",
        "mpi",
        "--ranks",
        "4",
        "--input",
        data.resolve("rows").toString(),
        "--json");
  }
}
