// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.ddstore.contract.Needed;
import org.ddstore.spark.DriverJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A /dev/shm of 16 MiB, in a mount namespace, under a driver and executors of its own. */
@Tag("system")
@Timeout(400)
@Tag("slow")
class SmallSharedMemoryOnExecutorsTest {
  @TempDir Path directory;

  @Test
  void namesTheFullMountAndLoadsIntoFiles() throws Exception {
    String refusal = namespaceProblem();
    Needed.check("a mount namespace with a tmpfs", refusal == null, () -> refusal);

    Map<String, String> output = SmallSharedMemoryMain.parse(runDriver());

    for (String name : List.of("checked", "ragged checked")) {
      assertThat(output.get(name))
          .as(name)
          .startsWith("PreflightException: cannot run 2 ranks here:")
          .contains("in /dev/shm")
          .contains("spark.ddstore.backing=file");
    }
    for (String name : List.of("unchecked", "ragged unchecked")) {
      assertThat(output.get(name))
          .as(name)
          .startsWith("StoreJobException: attempt 1 of 2 on 2 ranks failed: rank ")
          .contains("No space left on device", "Remedy: a larger mount")
          .contains("spark.ddstore.backing=file");
    }
    assertThat(output.get("to files")).isEqualTo("[100000, 100000]");
    assertThat(output.get("executors lost")).isEqualTo("[]");
    assertThat(output.get("left in /dev/shm")).isEqualTo("[]");
  }

  private static String namespaceProblem() throws Exception {
    try {
      Process trial =
          new ProcessBuilder("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
              .redirectErrorStream(true)
              .start();
      String said = new String(trial.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return trial.waitFor() == 0 ? null : said.strip();
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private String runDriver() throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                "unshare",
                "-m",
                "sh",
                "-c",
                "mount -t tmpfs -o size=16m tmpfs /dev/shm && exec \"$@\"",
                "driver"));
    command.addAll(
        DriverJvm.command(
            SmallSharedMemoryMain.class,
            Files.createDirectory(directory.resolve("segments")).toString()));
    return DriverJvm.run(command, directory);
  }
}
