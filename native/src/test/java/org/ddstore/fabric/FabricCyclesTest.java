// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Leftovers of transports that were opened, used for reads and closed. */
@NeedsFabric
@Tag("slow")
class FabricCyclesTest {
  private static final int PATIENCE_SECONDS = 240;

  @TempDir private Path directory;

  @Test
  void threeHundredCyclesLeakNothing() throws IOException, InterruptedException {
    List<String> command = ChildJvm.command();
    command.addAll(List.of(FabricCycles.OPTIONS));
    command.add(FabricCycles.class.getName());
    Path said = directory.resolve("said");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
      String text = Files.readString(said, StandardCharsets.UTF_8);
      assertThat(ended).as("ended within %d s: %s", PATIENCE_SECONDS, text).isTrue();
      assertThat(process.exitValue()).as(text).isZero();
      assertThat(text).contains("bytes of growth of a cycle");
    } finally {
      process.destroyForcibly();
    }
  }
}
