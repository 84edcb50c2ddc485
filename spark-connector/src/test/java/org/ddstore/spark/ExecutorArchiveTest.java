// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors and ranks of tests start from the archive. */
@Tag("system")
@Timeout(300)
class ExecutorArchiveTest {
  @BeforeAll
  static void requireArchive() {
    Needed.check(
        "an archive of classes",
        ExecutorArchive.isAvailable(),
        () -> "target/executor-archive/log has the output of the JVM that creates it");
  }

  @Test
  void executorsMapTheArchive() {
    try (TestCluster cluster = TestCluster.start(1, 1, 512)) {
      assertThat(cluster.inEverySlot(rows -> Maps.haveArchive())).containsOnly(true);
    }
  }

  @Test
  void ranksMapTheArchive() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.add(Maps.class.getName());
    Process rank = new ProcessBuilder(command).redirectErrorStream(true).start();
    assertThat(rank.inputReader().lines()).containsExactly("true");
    assertThat(rank.waitFor()).isZero();
  }

  /** Prints whether the JVM maps the archive. */
  static final class Maps {
    private Maps() {}

    public static void main(String[] none) throws IOException {
      System.out.println(haveArchive());
    }

    static boolean haveArchive() throws IOException {
      return Files.readString(Path.of("/proc/self/maps")).contains("executor-archive");
    }
  }
}
