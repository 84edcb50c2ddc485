// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Arguments that benchmarks refuse before they start ranks or look for a device. */
class BenchArgumentsTest {
  @TempDir private Path folder;

  private static void assertRefused(String message, String... arguments) throws IOException {
    Outcome refused = InProcess.run(arguments);

    assertThat(refused.exitCode()).as(refused.err()).isEqualTo(2);
    assertThat(refused.err().lines().findFirst()).hasValue("ddstore: " + message);
    assertThat(refused.out()).isEmpty();
  }

  @Test
  void checkpointNeedsAnExistingDirectory() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    for (Path wrong : new Path[] {file, folder.resolve("none")}) {
      assertRefused(
          "--directory: %s is not a writable directory: create it, or omit the option"
              .formatted(wrong),
          "bench",
          "checkpoint",
          "--directory",
          wrong.toString());
    }
  }

  @Test
  void devicesAreNumberedFromZero() throws IOException {
    assertRefused("--device: -1 outside [0, 2147483647]", "bench", "device", "--device", "-1");
  }

  @Test
  void dlioChecksItsOptions() throws IOException {
    assertRefused("--scale: 1.5 outside (0, 1]", "bench", "dlio", "--scale", "1.5");
    assertRefused("--epochs: 1 outside [2, 1000]", "bench", "dlio", "--epochs", "1");
    assertRefused(
        "--nodes: not with --workload, because the evaluation ran unet3d only",
        "bench",
        "dlio",
        "--nodes",
        "4",
        "--workload",
        "cosmoflow");
    for (String range : new String[] {"0", "8..4", "1..513", "1-4"}) {
      assertRefused(
          "Invalid value for option '--nodes': %s outside [1, 512]: give a number, or two as 1..512"
              .formatted(range),
          "bench",
          "dlio",
          "--nodes",
          range);
    }
  }

  @Test
  void nodesNeedWhatTheEvaluationHad() {
    DlioBench.NodeNeeds needs = DlioBench.NodeNeeds.of(512);

    assertThat(needs.ranks()).isEqualTo(6144);
    assertThat(needs.samples()).isEqualTo(4_300_800);
    assertThat(needs.tebibytes()).isCloseTo(573.4, within(0.1));
    assertThat(needs.gibibytesPerSecond() / needs.ranks()).isCloseTo(9.22, within(0.01));
    assertThat(new DlioBench.NodeRange.Converter().convert("1..512").counts())
        .containsExactly(1, 2, 4, 8, 16, 32, 64, 128, 256, 512);
  }
}
