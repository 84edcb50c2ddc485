// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Executors that are killed while queries read a store, and between them: 2, of 2 slots each. */
@Tag("system")
@Timeout(600)
@Tag("always")
class SourceLossTest extends SourceOnCluster {
  /** Number of rows of 2.5 KiB each, so that a scan has two tasks. */
  private static final int ROWS = 4_000;

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String REMEDY = "DDStores.open(spark, \"n\").repair() restores them";

  /** Folder in which tasks note that they read, and then wait until they may continue. */
  @TempDir private Path gate;

  @BeforeAll
  static void start() {
    start(2, 2);
  }

  private StoreSpec numbers() {
    return DDStores.from(
            spark.range(ROWS).selectExpr("id", "repeat(lpad(id, 8, '0'), 320) as text"))
        .ranks(2)
        .readTimeout(Duration.ofSeconds(30));
  }

  private static List<String> expected() {
    return IntStream.range(0, ROWS)
        .mapToObj(id -> id + " " + "%08d".formatted(id).repeat(320))
        .toList();
  }

  /** All rows, by tasks that say so when they have their first one, and then wait at the gate. */
  private Dataset<String> gated() {
    String folder = gate.toString();
    MapPartitionsFunction<Row, String> slowly =
        rows -> {
          List<String> texts = new ArrayList<>();
          while (rows.hasNext()) {
            texts.add(text(rows.next()));
            if (texts.size() == 1) {
              waitAt(folder);
            }
          }
          return texts.iterator();
        };
    return spark.sql("select id, text from ddstore.n").mapPartitions(slowly, Encoders.STRING());
  }

  private static String text(Row row) {
    return row.getLong(0) + " " + row.getString(1);
  }

  private static void waitAt(String folder) throws IOException {
    Path open = Path.of(folder, "open");
    if (!Files.exists(open)) {
      long attempt = TaskContext.get().taskAttemptId();
      Files.createFile(Path.of(folder, ProcessHandle.current().pid() + "-" + attempt));
      await().atMost(PATIENCE).until(() -> Files.exists(open));
    }
  }

  /** Kills an executor in which a task reads, and lets the others go on. */
  private void killAReadingExecutor(CompletableFuture<?> query) throws IOException {
    try {
      await("two tasks read")
          .atMost(PATIENCE)
          .until(() -> query.isDone() || readers().count() == 2);
      assertThat(query).as("the query").isNotDone();
      ProcessHandle victim = readers().findFirst().flatMap(ProcessHandle::of).orElseThrow();
      assertThat(cluster.executors()).contains(victim.pid());
      victim.destroyForcibly();
    } finally {
      Files.createFile(gate.resolve("open"));
    }
  }

  private Stream<Long> readers() throws IOException {
    try (Stream<Path> files = Files.list(gate)) {
      return files
          .map(file -> Long.valueOf(file.getFileName().toString().split("-", 2)[0]))
          .toList()
          .stream();
    }
  }

  private static void awaitLoss(ResidentStore store) {
    await("the driver knows that the executor is lost")
        .atMost(PATIENCE)
        .until(() -> store.shards().stream().anyMatch(ResidentShard::isLost));
  }

  @Test
  void queryContinuesWithCopies() throws Exception {
    queryContinuesWithCopies(Backing.SHM, false);
  }

  @ParameterizedTest
  @Tag("slow")
  @EnumSource(
      value = Backing.class,
      names = {"SHM", "DIRECT"})
  void queryContinuesWithCopiesAndTheShortcut(Backing backing) throws Exception {
    queryContinuesWithCopies(backing, true);
  }

  private void queryContinuesWithCopies(Backing backing, boolean shortcut) throws Exception {
    ResidentStore store = numbers().width(1).backing(backing).shortcut(shortcut).load("n");
    Dataset<String> query = gated();
    CompletableFuture<List<String>> rows = CompletableFuture.supplyAsync(query::collectAsList);

    killAReadingExecutor(rows);

    assertThat(rows.get(2, TimeUnit.MINUTES)).containsExactlyInAnyOrderElementsOf(expected());
    awaitLoss(store);
    assertThat(query.collectAsList()).containsExactlyInAnyOrderElementsOf(expected());
    assertThat(gated().collectAsList()).containsExactlyInAnyOrderElementsOf(expected());
    store.repair();
    assertThat(query.collectAsList()).containsExactlyInAnyOrderElementsOf(expected());
  }

  @Test
  void withoutCopiesTheErrorNamesTheLostRowsAndTheRemedy() throws Exception {
    theErrorNamesTheLostRows(Backing.DIRECT, true);
  }

  @Test
  @Tag("slow")
  void withoutCopiesAndTheShortcutTheErrorNamesTheLostRowsAndTheRemedy() throws Exception {
    theErrorNamesTheLostRows(Backing.SHM, false);
  }

  private void theErrorNamesTheLostRows(Backing backing, boolean shortcut) throws Exception {
    ResidentStore store = numbers().backing(backing).shortcut(shortcut).load("n");
    Dataset<String> query = gated();
    CompletableFuture<List<String>> rows = CompletableFuture.supplyAsync(query::collectAsList);

    killAReadingExecutor(rows);

    assertThatThrownBy(() -> rows.get(2, TimeUnit.MINUTES))
        .hasStackTraceContaining("org.ddstore.types.RankLostException")
        .hasStackTraceContaining("store \"n\"")
        .hasStackTraceContaining(REMEDY);
    awaitLoss(store);
    assertThatThrownBy(query::collectAsList)
        .as("a query that was planned before")
        .hasStackTraceContaining("RankLostException")
        .hasStackTraceContaining(REMEDY);
    assertReportsTheLossAtOnce(store);
    store.repair();
    assertThat(query.collectAsList())
        .as("a query that was planned before the repair")
        .containsExactlyInAnyOrderElementsOf(expected());
    assertThat(gated().collectAsList()).containsExactlyInAnyOrderElementsOf(expected());
  }

  /** The driver drops the shards; the remaining rows can be read. */
  private void assertReportsTheLossAtOnce(ResidentStore store) {
    ResidentShard lost =
        store.shards().stream().filter(ResidentShard::isLost).findAny().orElseThrow();
    assertThatThrownBy(() -> gated().collectAsList())
        .isInstanceOf(RankLostException.class)
        .hasMessageStartingWith(
            "rows [%d, %d) of store \"n\" were lost with executor %s: "
                .formatted(lost.firstRow(), lost.firstRow() + lost.rows(), lost.executorId()))
        .hasMessageContaining(REMEDY);
    long left = lost.firstRow() == 0 ? ROWS - 1 : 0;
    assertThat(spark.sql("select id from ddstore.n where __index = " + left).collectAsList())
        .hasToString("[[" + left + "]]");
    assertThat(spark.table("ddstore.n").count()).isEqualTo(ROWS);
  }

  @Test
  void reusedPlanFollowsTheStore() {
    ResidentStore store = numbers().load("n");
    Dataset<Row> ids = spark.sql("select id from ddstore.n where id < 100000");
    assertThat(ids.collectAsList()).hasSize(ROWS);

    spark.sql("insert into ddstore.n select " + ROWS + "L, 'more'");

    assertThat(ids.collectAsList()).as("the rows that were planned").hasSize(ROWS);
    assertThat(ids.count()).as("planned anew").isEqualTo(ROWS + 1);
    store.drop();
    assertThatThrownBy(ids::collectAsList)
        .hasStackTraceContaining("store \"n\" was dropped or overwritten after the query was")
        .hasStackTraceContaining("read it again");
  }

  private void killHolderOfTheFirstRow(ResidentStore store) {
    String victim = store.shards().get(0).executorId();
    cluster.killExecutor(victim);
    awaitLoss(store);
  }

  /**
   * A store with rows of its own, and one with rows of a dropped store. Both have rows in every
   * executor.
   */
  @Test
  @Tag("slow")
  void theErrorPromisesNoRepairOfRowsFromALostOrDroppedStore() {
    ResidentStore appended = numbers().ranks(4).load("n");
    appended.append(spark.table("ddstore.n"));
    ResidentStore first = numbers().load("first");
    ResidentStore second = DDStores.from(spark.table("ddstore.first")).ranks(4).load("second");
    first.drop();

    killHolderOfTheFirstRow(appended);
    awaitLoss(second);
    assertThatThrownBy(appended::repair)
        .isInstanceOf(DDStoreException.class)
        .isNotInstanceOf(RankLostException.class)
        .hasMessageStartingWith(
            "rows of \"n\" were lost with their executor and cannot be restored")
        .hasMessageContaining("If that store is \"n\" itself, call drop() and load it anew");

    assertThatThrownBy(second::repair)
        .isInstanceOf(DDStoreException.class)
        .isNotInstanceOf(RankLostException.class)
        .hasMessageStartingWith(
            "rows of \"second\" were lost with their executor, and their source")
        .hasMessageContaining("\"first\"")
        .hasMessageContaining("drop() \"second\" and load it anew");
  }
}
