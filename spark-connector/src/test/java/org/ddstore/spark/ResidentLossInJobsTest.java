// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.spark.cluster.LiveExecutors;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.resident.ResidentOrigin;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.spark.types.StoreJobException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Option;

/**
 * Executors that are killed while resident stores are run, loaded, appended to and repaired: 2 of
 * them, 2 slots each. A width of 4 is one copy of the rows, one of 2 are two.
 */
@Tag("system")
@Timeout(300)
@Tag("always")
class ResidentLossInJobsTest extends OnTestCluster {
  private static final int MORE = 50;
  private static final long PAUSE_AT = 1900;
  private static final Duration SHORT = Duration.ofSeconds(1);

  /**
   * Time from the decommission of an idle executor to its end: Spark's second is less than a loaded
   * machine needs to copy rows.
   */
  private static final String DECOMMISSION_MS = "10000";

  private Set<Long> before;

  @BeforeAll
  static void start() {
    cluster =
        TestCluster.start(
            2,
            2,
            1024,
            Map.of(
                "spark.decommission.enabled",
                "true",
                "spark.storage.decommission.enabled", // an idle executor ends later
                "true",
                "spark.storage.decommission.replicationReattemptInterval", // else 30 s
                "5s",
                "spark.test.executor.decommission.initial.sleep.millis",
                DECOMMISSION_MS));
  }

  @BeforeEach
  void recordExecutors() {
    cluster.inEverySlot(rows -> 0);
    before = cluster.executors();
  }

  @AfterEach
  void assertNothingHeld() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
    cluster.assertNothingHeld();
    assertThat(cluster.executors()).as("executors, one of which was replaced").isNotEqualTo(before);
  }

  @AfterAll
  static void assertNothingLeft() {
    cluster.assertNothingLeft();
  }

  /** Numbered rows; on request, the task that reaches row {@code at} waits to be killed. */
  private static Dataset<Row> pausing(Evidence evidence, long at, long from, long to) {
    cluster
        .session()
        .udf()
        .register(
            "pausing",
            (UDF1<Long, Long>)
                id -> {
                  if (id == at && evidence.has("pause") && !evidence.has("killed")) {
                    evidence.note("loader", ProcessHandle.current().pid());
                    evidence.awaitNote("killed");
                  }
                  return id;
                },
            DataTypes.LongType);
    return numberedRows(from, to)
        .selectExpr(
            "pausing(id) as id", "array(float(id), float(-id)) as x", "concat('t', id) as t");
  }

  /**
   * A short time-out for slots: a store that misses executors it had before waits longer by itself.
   */
  private static StoreSpec spec(Dataset<Row> rows, int width) {
    return DDStores.from(rows)
        .ranks(4)
        .width(width)
        .slotsTimeout(SHORT)
        .collectiveTimeout(COLLECTIVE_TIMEOUT);
  }

  private static void killLoader(Evidence evidence) {
    kill(evidence.awaitPid("loader"));
    evidence.note("killed", "");
  }

  /** By ranks, by tasks that are none, and by the driver; with and without what is lost. */
  private static void checkAll(ResidentStore store, int count) {
    String digest = store.digest();
    assertThat(
            store.run(
                context -> {
                  checkNumbered(context.rows(), count);
                  return context.store().digest(RankContext.ROWS);
                }))
        .isEqualTo(Collections.nCopies(4, digest));
    store.repair();
    assertThat(store.shards()).noneMatch(ResidentShard::isLost);
    assertThat(store.digest()).isEqualTo(digest);
    StoreHandle handle = store.handle();
    cluster.inEverySlot(
        none -> {
          try (StoreReader reader = handle.attach()) {
            checkNumbered(reader.rows(), count);
          }
          return 0;
        });
    try (StoreReader reader = handle.attach()) {
      checkNumbered(reader.rows(), count);
    }
  }

  private static <T> T get(CompletableFuture<T> job) throws Exception {
    return job.get(3, TimeUnit.MINUTES);
  }

  @Test
  void runRecoversFromALossWithCopies() throws Exception {
    runWithALoss(2);
  }

  @Test
  @Tag("slow")
  void runRecoversFromALossWithoutCopies() throws Exception {
    runWithALoss(4);
  }

  private void runWithALoss(int width) throws Exception {
    ResidentStore store = spec(numberedRows(), width).load("train");
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Integer>> job =
        CompletableFuture.supplyAsync(
            () ->
                store.run(
                    context -> {
                      checkNumbered(context.rows(), ROWS);
                      evidence.note("pid of " + context.rank(), ProcessHandle.current().pid());
                      while (context.attempt() == 1 && !Thread.interrupted()) {
                        checkNumbered(context.rows(), ROWS);
                      }
                      context.communicator().barrier();
                      checkNumbered(context.rows(), ROWS);
                      return context.attempt();
                    }));
    for (int rank = 0; rank < 4; rank++) {
      evidence.awaitNote("pid of " + rank);
    }
    kill(evidence.awaitPid("pid of 1"));

    assertThat(get(job)).hasSize(4).allMatch(attempt -> attempt > 1);
    assertThat(store.shards().stream().anyMatch(ResidentShard::isLost))
        .as("rows are nowhere but in a copy")
        .isEqualTo(width == 2);
    checkAll(store, ROWS);
  }

  @Test
  @Tag("slow")
  void loadRecoversFromALossWithoutCopies() throws Exception {
    loadWithALoss(4);
  }

  @Test
  @Tag("slow")
  void loadRecoversFromALossWithCopies() throws Exception {
    loadWithALoss(2);
  }

  private void loadWithALoss(int width) throws Exception {
    Evidence evidence = new Evidence(directory);
    evidence.note("pause", "");
    Dataset<Row> frame = pausing(evidence, PAUSE_AT, 0, ROWS);
    CompletableFuture<ResidentStore> job =
        CompletableFuture.supplyAsync(() -> spec(frame, width).load("train"));
    killLoader(evidence);

    ResidentStore store = get(job);
    assertThat(store.shards()).hasSize(4).noneMatch(ResidentShard::isLost);
    checkAll(store, ROWS);
  }

  @Test
  @Tag("slow")
  void lossInTheOnlyAttemptToLoadLeavesNoStore() {
    Evidence evidence = new Evidence(directory);
    evidence.note("pause", "");
    Dataset<Row> frame = pausing(evidence, PAUSE_AT, 0, ROWS);
    CompletableFuture<ResidentStore> job =
        CompletableFuture.supplyAsync(() -> spec(frame, 4).maxAttempts(1).load("train"));
    killLoader(evidence);

    assertThatThrownBy(() -> get(job))
        .cause()
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("attempt 1 of 1 on 4 ranks failed: rank ");
    assertThat(DDStores.list(cluster.session())).isEmpty();
  }

  @Test
  @Tag("slow")
  void appendRecoversFromALossWithCopies() throws Exception {
    appendWithALoss(2);
  }

  @Test
  @Tag("slow")
  void appendRecoversFromALossWithoutCopies() throws Exception {
    appendWithALoss(4);
  }

  private void appendWithALoss(int width) throws Exception {
    ResidentStore store = spec(numberedRows(), width).load("train");
    Evidence evidence = new Evidence(directory);
    evidence.note("pause", "");
    Dataset<Row> more = pausing(evidence, ROWS + 1, ROWS, ROWS + MORE);
    CompletableFuture<Void> job = CompletableFuture.runAsync(() -> store.append(more));
    killLoader(evidence);

    get(job);
    assertThat(store.rows()).isEqualTo(ROWS + MORE);
    assertThat(store.shards()).anyMatch(shard -> shard.isLost() && shard.append() == 0);
    checkAll(store, ROWS + MORE);
  }

  @Test
  @Tag("slow")
  void repairFromTheDataFrameRecoversFromALoss() throws Exception {
    Evidence evidence = new Evidence(directory);
    ResidentStore store = spec(pausing(evidence, 0, 0, ROWS), 4).load("train");
    kill(pidOf(store.shards().get(0).executorId()));
    evidence.note("pause", "");
    CompletableFuture<Void> job = repairWhenLost(store);
    killLoader(evidence);

    get(job);
    assertThat(store.shards()).noneMatch(ResidentShard::isLost);
    checkAll(store, ROWS);
  }

  /**
   * Loses one executor and then the other. A store that no event of the first loss reaches finds it
   * out by itself. After the second loss there may be no copy, but the DataFrame is there.
   */
  @Test
  @Tag("slow")
  void repairFromCopiesRecoversFromASecondLoss() throws Exception {
    ResidentStore store = spec(numberedRows(), 2).load("train");
    ResidentStore unregistered = loadUnregistered();
    String first = store.shards().get(0).executorId();
    long survivor =
        pidOf(
            store.shards().stream()
                .map(ResidentShard::executorId)
                .filter(id -> !id.equals(first))
                .findFirst()
                .orElseThrow());
    try {
      replace(first);
      assertThat(unregistered.shards()).noneMatch(ResidentShard::isLost);
      checkAll(unregistered, ROWS);
    } finally {
      unregistered.drop();
    }
    AtomicBoolean killed = new AtomicBoolean();
    SparkListener killer =
        new SparkListener() {
          @Override
          public void onTaskStart(SparkListenerTaskStart start) {
            if (killed.compareAndSet(false, true)) {
              ProcessHandle.of(survivor).ifPresent(ProcessHandle::destroyForcibly);
            }
          }
        };
    cluster.session().sparkContext().addSparkListener(killer);
    try {
      get(repairWhenLost(store));
    } finally {
      cluster.session().sparkContext().removeSparkListener(killer);
    }
    assertThat(killed).isTrue();
    checkAll(store, ROWS);
  }

  /** The repair would like to have all slots, and does not wait for them for ever. */
  @Test
  @Tag("slow")
  void repairsBesideAJobInTheOtherSlots() throws Exception {
    ResidentStore store = spec(numberedRows(), 4).load("train");
    ResidentShard lost = store.shards().get(0);
    ResidentShard survivor =
        store.shards().stream()
            .filter(shard -> !shard.executorId().equals(lost.executorId()))
            .findFirst()
            .orElseThrow();
    long victim = pidOf(lost.executorId());
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Boolean>> other = cluster.occupy(survivor, 2, evidence);
    try {
      kill(victim);
      get(repairWhenLost(store));
      assertThat(store.shards()).noneMatch(ResidentShard::isLost);
      assertThat(other).as("the job that has the other slots").isNotDone();
    } finally {
      evidence.note("free", "");
    }
    assertThat(get(other)).containsOnly(true);
    checkAll(store, ROWS);
  }

  /**
   * A planned shutdown while a job runs: what the rows came from is gone, there is no other copy,
   * and Spark ends the executor when the job has ended.
   */
  @Test
  @Tag("slow")
  void decommissionKeepsTheRowsOfABusyExecutor() throws Exception {
    Path source = directory.resolve("source");
    numberedRows().write().parquet(source.toString());
    Dataset<Row> stored = cluster.session().read().parquet(source.toString());
    ResidentStore store = spec(stored.orderBy("id"), 4).load("train");
    ResidentStore other = spec(numberedRows(), 4).load("other");
    store.append(numberedRows(ROWS, ROWS + MORE));
    ResidentShard shard = store.shards().get(0);
    String leaving = shard.executorId();
    long pid = pidOf(leaving);
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Boolean>> job = cluster.occupy(shard, 2, evidence);
    try {
      deleteTree(source);
      decommission(leaving);
      assertThat(store.explain())
          .doesNotContain("lost: ")
          .contains("executors [%s] are being decommissioned".formatted(leaving));

      store.repair();

      assertThat(store.shards())
          .noneMatch(ResidentShard::isLost)
          .noneMatch(copied -> copied.executorId().equals(leaving));
      try (StoreReader reader = store.handle().attach()) {
        checkNumbered(reader.rows(), ROWS + MORE);
      }
      store.drop();
      other.drop();
      assertThat(isRunning(pid)).as("the executor").isTrue();
      Leftovers.assertNoSharedMemoryOf(Set.of(pid));
    } finally {
      evidence.note("free", "");
    }
    assertThat(get(job)).containsOnly(true);
    await("Spark ends it").atMost(Duration.ofMinutes(1)).until(() -> !isRunning(pid));
  }

  /** No one requests a repair, no job runs, and the stores belong to two users. */
  @Test
  @Tag("slow")
  void decommissionKeepsTheRowsOfAnIdleExecutor() throws Exception {
    Path source = directory.resolve("source");
    numberedRows().write().parquet(source.toString());
    Dataset<Row> stored = cluster.session().read().parquet(source.toString());
    ResidentStore store = spec(stored.orderBy("id"), 4).load("train");
    try (OtherUser user = new OtherUser("bob")) {
      ResidentStore ofBob = spec(stored.orderBy("id"), 4).load("bobs");
      assertThat(ofBob.owner()).isEqualTo(user.name).isNotEqualTo(store.owner());
      try {
        String leaving = store.shards().get(0).executorId();
        long pid = pidOf(leaving);
        deleteTree(source);
        decommission(leaving);
        await("Spark ends it").atMost(Duration.ofMinutes(2)).until(() -> !isRunning(pid));
        await("its rows are elsewhere")
            .atMost(Duration.ofMinutes(1))
            .until(
                () ->
                    Stream.of(store, ofBob)
                        .flatMap(one -> one.shards().stream())
                        .noneMatch(shard -> shard.executorId().equals(leaving)));
        checkAll(ofBob, ROWS);
      } finally {
        ofBob.drop(); // no other user may
      }
    }
    checkAll(store, ROWS);
  }

  /** Lets the thread work for another user, as a server of Spark Connect does. */
  private static final class OtherUser implements AutoCloseable {
    private static final String TAGS = "spark.job.tags";

    private final String name;

    OtherUser(String name) {
      this.name = name;
      cluster
          .session()
          .sparkContext()
          .setLocalProperty(
              TAGS, "SparkConnect_OperationTag_User_%s_Session_s_Operation_o".formatted(name));
    }

    @Override
    public void close() {
      cluster.session().sparkContext().setLocalProperty(TAGS, null);
    }
  }

  private static void decommission(String executor) {
    SparkContext context = cluster.session().sparkContext();
    ((ExecutorAllocationClient) context.schedulerBackend())
        .decommissionExecutor(
            executor, new ExecutorDecommissionInfo("planned", Option.empty()), false, false);
    await("Spark gives it no more tasks")
        .atMost(Duration.ofMinutes(1))
        .until(() -> LiveExecutors.leaving(context, Set.of(executor)).contains(executor));
  }

  private static void deleteTree(Path directory) throws IOException {
    try (Stream<Path> walk = Files.walk(directory)) {
      for (Path path : walk.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** Loads a store that no event of a lost executor reaches, because it is not registered. */
  private static ResidentStore loadUnregistered() {
    ResidentOrigin origin =
        new ResidentOrigin(
            Optional.empty(),
            numberedRows(),
            IngestOptions.defaults(),
            Settings.of(cluster.session())
                .with(Setting.RANKS, 4)
                .with(Setting.SLOTS_TIMEOUT, SHORT),
            cluster.session().sparkContext().resourceProfileManager().defaultResourceProfile(),
            SlotsWarning.ofStore("unheard"),
            ResidentStores.of(cluster.session().sparkContext()));
    return StoreLauncher.loadShards(
        ResidentStores.of(cluster.session().sparkContext()), "unheard", origin);
  }

  /** Kills an executor, and returns when another one takes tasks. */
  private static void replace(String executor) {
    kill(pidOf(executor));
    await("Spark has given it up")
        .atMost(Duration.ofMinutes(1))
        .until(() -> !LiveExecutors.takesTasks(cluster.session().sparkContext(), executor));
    cluster.inEverySlot(rows -> 0);
  }

  private static CompletableFuture<Void> repairWhenLost(ResidentStore store) {
    return CompletableFuture.runAsync(
        () -> {
          await("the driver knows of the loss")
              .atMost(Duration.ofMinutes(1))
              .until(() -> store.explain().contains("lost: "));
          store.repair();
        });
  }

  private static long pidOf(String executor) {
    return cluster.pids().get(executor);
  }
}
