// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.Needed;
import org.ddstore.mpi.Mpi;
import org.ddstore.transport.Availability;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The demo by MPI on a cluster of two hosts with two executors of one rank each. */
@Timeout(value = 1500, unit = TimeUnit.SECONDS)
class MpiOnTwoHostsIT extends OnTwoHosts {
  private static final Path MPI_JAR =
      Path.of(System.getProperty("ddstore.root"), "native/mpi/build/mpi.jar");
  private static final int ROWS = 1000;

  @TempDir private static Path folder;
  private static ClusterOnTwoHosts cluster;

  @TempDir private Path work;

  @BeforeAll
  static void start() throws IOException {
    Availability mpi = Mpi.availability();
    Needed.check("MPI", mpi.isAvailable(), mpi::detail);
    cluster = ClusterOnTwoHosts.start(folder, 2);
  }

  @AfterAll
  static void stop() throws IOException {
    if (cluster != null) {
      cluster.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--no-shortcut"})
  void demoFindsNoMismatch(String option) throws Exception {
    List<String> application =
        new ArrayList<>(
            List.of(
                "--jars",
                SparkHome.RUNTIME_JAR + "," + MPI_JAR,
                "--class",
                "org.ddstore.cli.Main",
                SparkHome.CLI_JAR.toString(),
                "demo",
                "--transport",
                "mpi",
                "--ranks",
                "4",
                "--input",
                SampleRows.path(),
                "--seconds",
                "0.2",
                "--json"));
    if (!option.isEmpty()) {
      application.add(option);
    }

    Map<String, String> settings = Map.of("spark.executor.memory", "512m");
    JsonNode json = cluster.submit(work, List.of(), settings, application).json();

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
  }
}
