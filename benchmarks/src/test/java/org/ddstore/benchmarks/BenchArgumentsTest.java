// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

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
}
