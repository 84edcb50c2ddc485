// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors of tests start from the archive. */
@Tag("system")
@Timeout(300)
class ExecutorArchiveTest {
  @Test
  void executorsMapTheArchive() {
    Needed.check(
        "an archive of classes",
        ExecutorArchive.isAvailable(),
        () -> "target/executor-archive/log has the output of the JVM that creates it");
    try (TestCluster cluster = TestCluster.start(1, 1, 512)) {
      assertThat(
              cluster.inEverySlot(
                  rows ->
                      Files.readString(Path.of("/proc/self/maps")).contains("executor-archive")))
          .containsOnly(true);
    }
  }
}
