// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.DriverJvm;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.OnTestCluster;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Applications, in a driver of their own, that end while stores are resident. */
@Tag("system")
@Timeout(300)
@Tag("slow")
class ResidentApplicationTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int SIGKILL = 128 + 9;

  @TempDir Path directory;

  /** Nor does it harm the store of its name in another application. */
  @Test
  void aKilledDriverLeavesNothing() throws Exception {
    leavesNothing("killed");
  }

  @Test
  void anExitWithoutStopLeavesNothing() throws Exception {
    leavesNothing("exit");
  }

  /** The usual end, which every class with a cluster of its own shows as well. */
  @Test
  void aStopLeavesNothing() throws Exception {
    leavesNothing("stop");
  }

  private void leavesNothing(String end) throws Exception {
    TestCluster.stopKept(); // it would take the application's executors for its own
    Evidence evidence = new Evidence(directory);
    Path log = directory.resolve("log");
    Process driver =
        new ProcessBuilder(DriverJvm.command(ResidentApplication.class, end, directory.toString()))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      await("the application has loaded its stores")
          .atMost(Duration.ofMinutes(2))
          .until(() -> evidence.has("executors") || !driver.isAlive());
      assertThat(evidence.has("executors")).as("%s", Files.readString(log)).isTrue();
      Set<Long> processes = new HashSet<>(Set.of(driver.pid()));
      Arrays.stream(evidence.read("executors").split(","))
          .forEach(pid -> processes.add(Long.valueOf(pid)));
      assertThat(processes).as("driver and executors").hasSize(3);
      if (end.equals("killed")) {
        assertThat(Leftovers.directoriesOf(processes))
            .as("directories before the end")
            .isNotEmpty();
        killBesideAStoreOfTheSameName(driver);
      }

      assertThat(driver.waitFor(1, TimeUnit.MINUTES)).as("the driver has ended").isTrue();
      assertThat(driver.exitValue())
          .as("exit status, after:%n%s", Files.readString(log))
          .isEqualTo(end.equals("killed") ? SIGKILL : 0);
      await("the executors have ended")
          .atMost(PATIENCE)
          .until(() -> processes.stream().noneMatch(OnTestCluster::isRunning));
      if (end.equals("killed")) {
        ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);
      }
      Leftovers.assertNoSharedMemoryOf(processes);
    } finally {
      driver.descendants().forEach(ProcessHandle::destroyForcibly);
      driver.destroyForcibly();
    }
  }

  private void killBesideAStoreOfTheSameName(Process driver) throws Exception {
    long rows = ResidentApplication.ROWS;
    StoreHandle other = StoreHandle.read(directory.resolve("handle"));
    try (TestCluster cluster = TestCluster.start(2, 1, 1024)) {
      Dataset<Row> frame = cluster.session().range(rows, 2 * rows).toDF();
      StoreHandle own = DDStores.from(frame).ranks(2).load(ResidentApplication.STORE).handle();
      assertThat(own.name()).isEqualTo(other.name());
      assertThat(firstRow(own)).isEqualTo(rows);
      assertThat(firstRow(other)).isZero();

      assertThat(driver.destroyForcibly().waitFor(1, TimeUnit.MINUTES)).isTrue();
      ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);

      assertThat(firstRow(own)).isEqualTo(rows);
      assertThat(cluster.session().read().format("ddstore").load(own.name()).count())
          .isEqualTo(rows);
      DDStores.open(cluster.session(), own.name()).drop();
    }
  }

  private static long firstRow(StoreHandle handle) {
    try (StoreReader reader = handle.attach();
        Batch batch = reader.store().getBatch("rows", 0)) {
      return batch.field("id").getLong(0);
    }
  }
}
