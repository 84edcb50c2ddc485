// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.mpi.NeedsMpi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code demo}, {@code explain} and {@code doctor} where MPI is, in this JVM, on one Spark of four
 * executors; {@link MpiLauncherIT} runs the demo as a user does, {@link BenchReadIT} has {@code
 * bench read}.
 */
@Tag("system")
@NeedsMpi
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class MpiCommandsIT {
  private static final int EXECUTORS = 4;

  @TempDir private static Path data;
  private static EmbeddedSpark shared;

  @BeforeAll
  static void start() {
    shared = InProcess.open("MPI commands", EXECUTORS, 1);
  }

  @AfterAll
  static void stop() {
    InProcess.close(shared);
  }

  static JsonNode checkDemo(Outcome outcome, int ranks, int rows) throws Exception {
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("results")).hasSize(ranks);
    assertThat(json.get("rowsRead").asLong()).isGreaterThanOrEqualTo(rows);
    return json;
  }

  private static JsonNode demo(String more) throws Exception {
    String line = "demo --transport mpi --ranks 4 --seconds 0.2 --rows 5000 --json" + more;
    return checkDemo(InProcess.command(line), EXECUTORS, 5000);
  }

  @Test
  @Tag("slow")
  void demoReadsRowsOfTheSameHostByMemory() throws Exception {
    assertThat(demo("").get("shares").get("remote").asDouble()).isZero();
  }

  @Test
  @Tag("slow")
  void demoReadsEveryRowByMpi() throws Exception {
    assertThat(demo(" --no-shortcut").get("shares").get("remote").asDouble()).isEqualTo(1);
  }

  @Test
  void doctorReportsMpiOfEachExecutor() throws Exception {
    Outcome outcome = InProcess.run("doctor", "--json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode results = outcome.json().get("results");
    assertThat(results).hasSize(EXECUTORS);
    for (JsonNode executor : results) {
      assertThat(DoctorIT.detail(executor, "mpi")).startsWith("Open MPI 4");
    }
  }

  @Test
  @Tag("slow")
  void explainNamesMpiAsThePath() throws Exception {
    Path directory = data.resolve("data");
    ParquetSamples.writeMixed(shared.session(), directory);

    // All executors: fewer would leave some out of the MPI world of the other tests.
    Outcome outcome =
        InProcess.command(
            "explain --transport mpi --no-shortcut --input %s --fields x,t --ranks 4 --json",
            directory);

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("transport").asText()).startsWith("mpi, Open MPI 4");
    assertThat(json.get("paths")).hasSize(EXECUTORS * EXECUTORS);
    for (JsonNode path : json.get("paths")) {
      assertThat(path.toString()).containsIgnoringCase("remote");
    }
  }
}
