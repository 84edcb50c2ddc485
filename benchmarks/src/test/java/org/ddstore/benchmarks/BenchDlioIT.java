// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.benchmarks.peers.KnownPeer;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.Needed;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code bench dlio} in this JVM, with DLIO itself. */
@Tag("system")
@Tag("slow")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
class BenchDlioIT {
  private static final int STEPS = 16;
  private static final double SCALE = STEPS / 524_288.0;
  private static final double POINTS = 2;

  @BeforeAll
  static void install() throws IOException {
    try {
      DlioTool.environmentOfDlio().install();
      KnownPeer.DDSTORE.variables();
    } catch (DDStoreException e) {
      Needed.check("DLIO", false, e::getMessage);
    }
  }

  private static List<Path> leftovers() throws IOException {
    List<Path> found = new ArrayList<>();
    for (String folder : List.of("/dev/shm", System.getProperty("java.io.tmpdir"))) {
      try (Stream<Path> files = Files.list(Path.of(folder))) {
        files.filter(file -> file.toString().contains("ddstore-dlio-")).forEach(found::add);
      }
    }
    return found;
  }

  @Test
  void runsDlioOnAStoreAndOnFiles() throws IOException {
    Outcome outcome =
        InProcess.command(
            "bench dlio --workload cosmoflow --scale %s --epochs 2 --json".formatted(SCALE));

    Needed.check("PyTorch", !outcome.err().contains("No module named 'torch'"), outcome::err);
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("results")).hasSize(DlioWay.values().length);
    for (JsonNode result : json.get("results")) {
      JsonNode report = result.get("run").get("report");
      assertThat(report.get("steps").asInt()).isEqualTo(STEPS);
      assertThat(report.get("utilisation")).hasSize(2);
      for (int epoch = 0; epoch < 2; epoch++) {
        double utilisation = report.get("utilisation").get(epoch).asDouble();
        assertThat(utilisation).isBetween(1.0, 100.0);
        assertThat(report.get("ourUtilisation").get(epoch).asDouble())
            .isCloseTo(utilisation, within(POINTS));
        assertThat(report.get("samplesPerSecond").get(epoch).asDouble()).isPositive();
      }
    }
    assertThat(json.get("figures").findValuesAsText("way"))
        .contains(DlioWay.LOADER.words(), DlioWay.FILES.words());
    assertThat(leftovers()).isEmpty();
  }
}
