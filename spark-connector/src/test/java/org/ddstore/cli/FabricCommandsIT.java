package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.Needed;
import org.ddstore.spark.wire.FabricBackend;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands that know {@code fabric}, as a user runs them, over TCP. */
@Tag("system")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class FabricCommandsIT {
  @TempDir private Path work;
  private Launcher launcher;

  @BeforeEach
  void makeLauncher() {
    String missing = FabricBackend.missing();
    Needed.check("fabric", missing == null, () -> missing);
    launcher = new Launcher(work);
  }

  @Test
  void benchReadReadsByFabric() throws Exception {
    Outcome outcome =
        launcher.run(
            "bench",
            "read",
            "--transport",
            "fabric",
            "--no-shortcut",
            "--row-bytes",
            "256,3000",
            "--batch",
            "16",
            "--in-flight",
            "1",
            "--shard-mb",
            "4",
            "--seconds",
            "0.1",
            "--json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("results")).isNotEmpty();
    for (JsonNode result : json.get("results")) {
      assertThat(result.get("transport").asText()).matches("fabric, (net|tcp) .*");
      assertThat(result.get("path").asText()).isEqualTo("remote");
      assertThat(result.get("microsPerRow").asDouble()).isPositive();
    }
  }

  @Test
  void doctorReportsFabricOfEachExecutor() throws Exception {
    Outcome outcome = launcher.run("doctor", "--json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode results = outcome.json().get("results");
    assertThat(results).hasSize(2);
    for (JsonNode executor : results) {
      JsonNode fabric = null;
      for (JsonNode transport : executor.get("transports")) {
        fabric = transport.get("name").asText().equals("fabric") ? transport : fabric;
      }
      assertThat(fabric).as("fabric in %s", executor).isNotNull();
      assertThat(fabric.get("available").asBoolean()).as("%s", fabric).isTrue();
      assertThat(fabric.get("detail").asText()).isNotBlank();
    }
  }
}
