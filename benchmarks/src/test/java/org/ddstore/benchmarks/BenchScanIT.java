// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * {@code bench scan --no-shortcut} in this JVM, on its own Spark of two executors with one slot
 * each; {@link BenchIT} has {@code bench scan} with the shortcut.
 */
@Tag("system")
@Tag("slow")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class BenchScanIT {
  private static final int ROWS = 20_000;
  private static final int LOOKUPS = 50;

  /** Rounds of each query: one measured, three of warm-up. */
  private static final int ROUNDS = 4;

  private static final int QUERIES = 3;

  @Test
  void readsAllRowsFromTheOtherExecutor() throws IOException {
    Outcome outcome =
        InProcess.command(
            "bench scan --no-shortcut --rows %s --rounds 1 --lookups %s --executor-memory "
                + ""
                + "1024 --json",
            ROWS, LOOKUPS);

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asInt()).isZero();
    assertThat(json.get("allRowsCached").asBoolean()).isTrue();
    assertThat(json.get("ratioToSparkCache").fieldNames())
        .toIterable()
        .containsExactly("sum", "count", "lookup");
    JsonNode reads = json.get("remoteReads");
    assertThat(reads.get("tasksExecutor").asText())
        .isNotEqualTo(reads.get("rowsExecutor").asText());
    long scanned = 2L * ROWS * ROUNDS;
    assertThat(reads.get("rows").asLong()) // a row that is drawn twice is read once
        .isBetween(scanned + ROUNDS, scanned + (long) LOOKUPS * ROUNDS);
    assertThat(reads.get("blocks").asLong()).isPositive();
    assertThat(reads.get("blocks").asLong() % (QUERIES * ROUNDS)).isZero();
    assertThat(reads.get("tasks").asLong()).isGreaterThan(reads.get("blocks").asLong());
    assertThat(reads.get("transport").asText())
        .isEqualTo("tcp, authenticated, not encrypted, over data channels");
    assertThat(reads.get("why").asText()).isNotEmpty();
  }
}
