// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Variable;
import org.ddstore.contract.Needed;
import org.ddstore.contract.Stopped;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.spark.wire.FabricBackend;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ranks read resident shards by libfabric, also those that were brought back; others by tcp. */
@Tag("system")
@Timeout(300)
@Tag("slow")
class ResidentOnFabricTest {
  private static final int ROWS = 300;
  private static final int MORE = 20;
  private static final int RANKS = 4;

  private static TestCluster cluster;

  @TempDir private Path directory;

  @BeforeAll
  static void start() {
    String missing = FabricBackend.missing();
    Needed.check("fabric", missing == null, () -> missing);
    cluster = TestCluster.start(RANKS, 1, 512);
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      try (TestCluster last = cluster) {
        last.assertNothingLeft();
      }
    }
  }

  private static Dataset<Row> frame(long from, long to) {
    return cluster
        .session()
        .range(from, to, 1, 2)
        .selectExpr("id", "concat('number ', id) as text");
  }

  private static void checkAll(Variable rows) {
    try (Reader reader = rows.reader()) {
      for (int i = 0; i < ROWS + MORE; i += 4) {
        try (Batch batch = reader.getBatch(i + 3, i, i + 1, i + 2)) {
          assertThat(batch.field("id").getLong(0)).isEqualTo(i + 3);
          assertThat(batch.string("text", 1)).isEqualTo("number " + i);
          assertThat(batch.string("text", 3)).isEqualTo("number " + (i + 2));
        }
      }
    }
  }

  /** By what the ranks have read, when all rows came over the network. */
  private static List<String> transports(ResidentStore store) {
    return store.run(
        context -> {
          checkAll(context.rows());
          assertThat(context.rows().statistics().get(ReadPath.REMOTE.index()).rows())
              .isEqualTo(ROWS + MORE);
          return context.transport();
        });
  }

  @Test
  void ranksUseFabricAndOtherReadersUseTcp() {
    ResidentStore store =
        DDStores.from(frame(0, ROWS)).ranks(2).shortcut(false).transport("fabric").load("train");
    store.append(frame(ROWS, ROWS + MORE));
    assertThat(transports(store)).allMatch(text -> text.startsWith("fabric, "));
    readElsewhere(store.handle());

    String victim = store.shards().get(1).executorId();
    cluster.executors();
    cluster.killExecutor(victim);

    assertThat(transports(store)).allMatch(text -> text.startsWith("fabric, "));
    assertThat(store.shards())
        .noneMatch(ResidentShard::isLost)
        .noneMatch(shard -> shard.executorId().equals(victim));
    readElsewhere(store.handle());
    store.drop();
  }

  /** Long before the read timeout, while the process of rank 1 is stopped. */
  @Test
  @Timeout(120)
  void ranksSwitchToAnotherCopyOfSilentRows() throws Exception {
    ResidentStore store =
        DDStores.from(frame(0, ROWS + MORE))
            .ranks(RANKS)
            .width(2)
            .shortcut(false)
            .transport("fabric")
            .readTimeout(Duration.ofMinutes(4))
            .load("copies");
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<String>> job =
        CompletableFuture.supplyAsync(() -> store.run(context -> readBeside(context, evidence)));
    awaitNotes(evidence, job, "ready 0", "ready 1", "ready 2", "ready 3");
    ProcessHandle owner = ProcessHandle.of(evidence.awaitPid("ready 1")).orElseThrow();
    try (Stopped stopped = Stopped.stop(owner)) {
      evidence.note("stopped", stopped);
      awaitNotes(evidence, job, "done 0", "done 2", "done 3");
    }
    assertThat(job.get(1, TimeUnit.MINUTES)).allMatch(text -> text.startsWith("fabric, "));
    store.drop();
  }

  private static void awaitNotes(Evidence evidence, CompletableFuture<?> job, String... notes) {
    await("notes, or the end of the job")
        .atMost(Duration.ofMinutes(1))
        .until(() -> job.isDone() || Stream.of(notes).allMatch(evidence::has));
    assertThat(Stream.of(notes)).as("%s", job).allMatch(evidence::has);
  }

  private static String readBeside(RankContext context, Evidence evidence) {
    checkAll(context.rows());
    evidence.note("ready " + context.rank(), ProcessHandle.current().pid());
    evidence.awaitNote("stopped");
    checkAll(context.rows());
    evidence.note("done " + context.rank(), "");
    return context.transport();
  }

  /** The driver has no endpoint of libfabric. */
  private static void readElsewhere(StoreHandle handle) {
    try (StoreReader reader = handle.attach()) {
      checkAll(reader.rows());
      assertThat(reader.store().statistics().get(ReadPath.REMOTE.index()).rows())
          .isEqualTo(ROWS + MORE);
    }
    cluster.inEverySlot(
        none -> {
          try (StoreReader reader = handle.attach()) {
            checkAll(reader.rows());
          }
          return 0;
        });
  }
}
