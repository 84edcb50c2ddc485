// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Half a minute of chaos, with a fixed seed. */
@Tag("system")
@Timeout(600)
class ChaosIT {
  @Test
  void findsNothing() throws IOException {
    Outcome outcome =
        InProcess.command(
            "chaos --minutes 0.4 --seed %s --operations load,append,run,query,drop"
                + " --faults kill,full,descriptors,speculation --json",
            43);

    assertThat(outcome.exitCode()).as("%s%s", outcome.out(), outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("operations").asInt()).isPositive();
    for (String key : new String[] {"mismatches", "hangs", "leftovers"}) {
      assertThat(json.get(key).asInt()).as(key).isZero();
    }
    assertThat(json.get("seed").asLong()).isEqualTo(43);
    assertThat(json.get("machine").get("cores").asInt()).isPositive();
    assertThat(json.get("faults").isInt()).isTrue();
  }
}
