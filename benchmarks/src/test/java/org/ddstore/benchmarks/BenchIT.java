// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.spark.StoreSpec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code bench epoch} and {@code bench scan} in this JVM, on one Spark of two executors with two
 * slots each; {@link BenchReadIT} has {@code bench read}, {@link BenchScanIT} has {@code bench scan
 * --no-shortcut}.
 */
@Tag("system")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class BenchIT {
  private static EmbeddedSpark shared;

  @BeforeAll
  static void start() {
    shared = InProcess.open("benchmarks", 2, 2);
  }

  @AfterAll
  static void stop() {
    InProcess.close(shared);
  }

  @ParameterizedTest
  @CsvSource({"shuffled, 'mapped,files,parquet,cache'", "chunked, none"})
  @Tag("slow")
  void benchEpochVerifiesEveryRow(String sampler, String beside) throws IOException {
    Outcome outcome =
        InProcess.command(
            "bench epoch --row-bytes 100,3000 --batch 24 --rows 2011 --ranks 2 --seconds 0.1 --json"
                + " --sampler %s --beside %s",
            sampler, beside);

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("sampler").asText()).isEqualTo(sampler);
    List<String> ways = new ArrayList<>(List.of("gather", "loader"));
    ways.addAll(beside.equals("none") ? List.of() : List.of(beside.split(",", -1)));
    ways.addAll(List.copyOf(ways)); // for both row sizes
    assertThat(json.get("results").findValuesAsText("way")).isEqualTo(ways);
    double slowestLoader = 0;
    for (JsonNode result : json.get("results")) {
      assertThat(result.get("rows").asLong()).isEqualTo(2011 / 48 * 48);
      assertThat(result.get("epochSeconds").asDouble()).isPositive();
      double ratio = result.get("ratioToRawGather").asDouble();
      assertThat(ratio).isPositive();
      if (result.get("way").asText().equals("gather")) {
        assertThat(ratio).isEqualTo(1);
      } else if (result.get("way").asText().equals("loader")) {
        slowestLoader = Math.max(slowestLoader, ratio);
      }
      assertThat(result.get("waits").isNumber())
          .isEqualTo(result.get("way").asText().equals("loader"));
    }
    assertThat(json.get("ratioToRawGather").asDouble()).isEqualTo(slowestLoader);
    assertThat(json.get("waits").asDouble()).isBetween(0.0, 1.0);
  }

  @Test
  void benchCheckpointComparesEveryByte() throws IOException {
    Outcome outcome =
        InProcess.command(
            "bench checkpoint --parameters 70000 --step-ms 0.1 --steps 5 --rounds 2 --json");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("results").findValuesAsText("way"))
        .containsExactly("none", "background", "synchronous");
    assertThat(json.get("backgroundRatio").asDouble()).isPositive();
    assertThat(json.get("synchronousRatio").asDouble()).isPositive();
  }

  @Test
  void benchScanComparesWithSparksCache() throws IOException {
    Outcome outcome = InProcess.command("bench scan --rows 20000 --rounds 1 --lookups 50 --json");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asInt()).isZero();
    assertThat(json.get("rows").asLong()).isEqualTo(20_000);
    assertThat(json.get("allRowsCached").asBoolean()).isTrue();
    assertThat(json.get("ratioToSparkCache").fieldNames())
        .toIterable()
        .containsExactly("sum", "count", "lookup");
    assertThat(json.get("results").findValuesAsText("query"))
        .containsExactly("sum", "count", "lookup");
  }

  @Test
  void benchScaleChecksEveryPartAndMarksTheModel() throws IOException {
    Outcome outcome =
        InProcess.command(
            "bench scale --real-ranks 1,2 --rows 20000 --threads 2 --ranks 32,64,256 --json");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("limitOfRanks").asInt()).isEqualTo(StoreSpec.MAX_RANKS);
    assertThat(json.get("modelledLimit").asInt()).isEqualTo(256);
    assertThat(json.get("growth").get("driver: start messages, bytes").asText()).isEqualTo("O(P)");
    assertThat(json.get("growth").get("instead: allGather of Spark, bytes").asText())
        .isEqualTo("O(P^2)");
    for (JsonNode figure : json.get("figures")) {
      assertThat(figure.get("section").asText()).isEqualTo("scale");
      assertThat(figure.get("samples")).as(figure.toString()).isNotEmpty();
      if (figure.get("way").asText().equals("start to the first batch")) {
        assertThat(figure.get("phase").asText()).isEqualTo("simulated");
      }
    }
  }

  @Test
  @Tag("slow")
  void benchScanWithoutShortcutRefusesExecutorsWithTwoSlots() throws IOException {
    Outcome outcome = InProcess.run("bench", "scan", "--no-shortcut", "--rows", "20000");
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err())
        .contains("--no-shortcut: ", "it needs two executors with one slot each");
  }

  @Test
  void badOptionsAreRefusedAtOnce() throws IOException {
    Outcome outcome = InProcess.run("bench", "epoch", "--sampler", "sorted");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err())
        .contains("--sampler sorted: unknown value; legal values: shuffled, chunked, sequential");
    outcome = InProcess.command("bench epoch --rows 100 --ranks 2 --batch 64");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).contains("--rows: 100 outside [128, ");
    outcome = InProcess.command("bench epoch --row-bytes 262144 --store-mb 1024");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err())
        .contains("--batch 1024: more than 128 MiB with rows of 262144 bytes; use a smaller");
    assertThat(InProcess.run("bench", "read", "--hosts", "3").exitCode()).isEqualTo(2);
  }
}
