// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.memory.ProcessDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A dump outlives its application, which is killed during a second dump to the same directory:
 * another application restores the first one, on other numbers of ranks.
 */
@Tag("system")
@Tag("slow")
@Timeout(300)
class DumpApplicationTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir private Path directory;

  /** Data files of all dumps, finished or not. */
  private List<Path> dataFiles() throws IOException {
    try (Stream<Path> all = Files.walk(directory.resolve("dump"))) {
      return all.filter(file -> file.getFileName().toString().startsWith("rank-")).toList();
    }
  }

  private String digestOfKilledApplication() throws Exception {
    Evidence evidence = new Evidence(directory);
    Path log = directory.resolve("log of the first");
    Process driver =
        new ProcessBuilder(DriverJvm.command(DumpApplication.class, "dump", directory.toString()))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    Set<ProcessHandle> executors = Set.of();
    try {
      await("a rank of the second dump has written its file")
          .atMost(PATIENCE)
          .until(() -> (evidence.has("dumped") && dataFiles().size() > 2) || !driver.isAlive());
      assertThat(driver.isAlive()).as("%s", Files.readString(log)).isTrue();
      executors = driver.descendants().collect(Collectors.toSet());
    } finally {
      driver.destroyForcibly();
    }
    assertThat(driver.waitFor(1, TimeUnit.MINUTES)).as("the driver has ended").isTrue();
    Set<ProcessHandle> all = executors;
    await("executors have ended")
        .atMost(PATIENCE)
        .until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
    ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);
    return evidence.read("dumped");
  }

  @Test
  void anotherApplicationRestoresTheStore() throws Exception {
    String digest = digestOfKilledApplication();
    assertThat(digest).hasSize(32);
    assertThat(dataFiles()).as("files of the finished dump and the other").hasSizeGreaterThan(2);
    DriverJvm.run(
        DriverJvm.command(DumpApplication.class, "restore", directory.toString()), directory);
    Evidence evidence = new Evidence(directory);
    for (int ranks : new int[] {1, 3, 4}) {
      assertThat(evidence.read("restored-" + ranks)).isEqualTo(ranks + " " + digest);
    }
    assertThat(evidence.read("sums")).isEqualTo("500 " + 500 * 499 / 2);
  }
}
