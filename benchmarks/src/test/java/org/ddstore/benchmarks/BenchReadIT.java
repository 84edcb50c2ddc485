// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.Needed;
import org.ddstore.mpi.NeedsMpi;
import org.ddstore.spark.wire.FabricBackend;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code bench read} over each transport: it compares every row. Over MPI as a user runs it, since
 * the launcher compiles what it is compared with, else in this JVM.
 */
@Tag("system")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class BenchReadIT {
  @TempDir private Path work;

  private static final String SMALL = "--row-bytes 256,3000 --batch 16 --in-flight 1 --shard-mb 4";

  /** All rows come over the network. */
  private static String line(String transport, String more) {
    return "bench read --no-shortcut --seconds 0.1 --json --transport " + transport + " " + more;
  }

  private static JsonNode check(Outcome outcome) throws Exception {
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("results")).isNotEmpty();
    for (JsonNode result : json.get("results")) {
      assertThat(result.get("path").asText()).isEqualTo("remote");
      assertThat(result.get("microsPerRow").asDouble()).isPositive();
    }
    return json;
  }

  @Test
  void readsByTcpAndStatesItsLimit() throws Exception {
    JsonNode json =
        check(
            InProcess.command(
                line(
                    "auto",
                    "--row-bytes 100,300000 --batch 1,16 --in-flight 2 --shard-mb 32 --peers 2"
                        + " --encrypted")));

    assertThat(json.get("results")).hasSize(4);
    for (JsonNode result : json.get("results")) {
      assertThat(result.get("transport").asText())
          .isEqualTo("tcp, authenticated and encrypted, over Spark's network");
      assertThat(result.get("why").asText()).isNotEmpty();
      assertThat(result.get("ratioToLimit").asDouble()).isPositive();
      for (String ratio : List.of("ratioToSocket", "p99RatioToSocket", "cpuRatioToSocket")) {
        assertThat(result.get(ratio).asDouble()).isPositive();
      }
      assertThat(result.get("limit").asText()).startsWith("a plain loop ");
      assertThat(result.get("streamGbPerSecond").asDouble()).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"--ranks 3", "--ranks 3 --no-shortcut"})
  void replaysStepsBesideTheirCeiling(String ranks) throws Exception {
    Outcome outcome =
        InProcess.command(
            "bench read --replay --seconds 0.1 --json --row-bytes 256,3000 --batch 16,64"
                + " --shard-mb 4 "
                + ranks);

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("results")).hasSize(4);
    for (JsonNode result : json.get("results")) {
      assertThat(result.get("shareOfCeiling").asDouble()).isPositive();
      assertThat(result.get("remoteShare").asDouble())
          .isEqualTo(ranks.contains("no-shortcut") ? 1 : 0);
    }
    assertThat(json.get("figures").findValuesAsText("way"))
        .contains("ddstore", "memcpy and sockets");
  }

  @Test
  @Tag("slow")
  void readsByFabric() throws Exception {
    String missing = FabricBackend.missing();
    Needed.check("fabric", missing == null, () -> missing);

    assertThat(
            check(InProcess.command(line("fabric", SMALL)))
                .get("results")
                .findValuesAsText("transport"))
        .hasSize(2)
        .allMatch(transport -> transport.matches("fabric, (net|tcp) .*"));
  }

  @Test
  @Tag("slow")
  @NeedsMpi
  void readsByMpiBesidePlainMpi() throws Exception {
    JsonNode json = check(new Launcher(work).command(line("mpi", SMALL)));

    assertThat(json.get("results").findValuesAsText("transport"))
        .hasSize(2)
        .allMatch(transport -> transport.startsWith("mpi, Open MPI 4"));
    JsonNode plain = json.get("plainMicrosPerRow");
    assertThat(plain.fieldNames()).toIterable().containsExactly("256", "3000");
    assertThat(plain.get("256").asDouble()).isPositive();
  }
}
