// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.collective.ReduceOp;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.resident.StoreMetrics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.spark.wire.LogTap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Ranks of resident stores beside other jobs: 2 ranks in 2 executors of 2 slots, so that 2 slots
 * are left.
 */
@Tag("system")
@Timeout(300)
class ResidentRunTest extends OnResidentCluster {
  private static final int ROWS = 400;
  private static final int MORE = 36;

  private static Dataset<Row> frame(long from, long to) {
    return cluster.session().range(from, to, 1, 3).selectExpr("id", "id * id as square");
  }

  private static ResidentStore load() {
    return DDStores.from(frame(0, ROWS)).ranks(2).load("train");
  }

  /** One epoch; {@code inside} is run when two batches of it have come. */
  private static long epoch(RankContext context, Runnable inside) {
    long[] samples = new long[2];
    try (Loader loader = context.loader(Samplers.shuffled(7).batchSize(10).everySample())) {
      int batches = 0;
      for (LoadedBatch batch : loader.epoch(0)) {
        try (batch) {
          for (int i = 0; i < batch.rows(); i++) {
            long id = batch.row(i);
            assertThat(batch.field("id").getLong(i)).isEqualTo(id);
            assertThat(batch.field("square").getLong(i)).isEqualTo(id * id);
            samples[0]++;
            samples[1] += id;
          }
        }
        if (++batches == 2) {
          inside.run();
        }
      }
      assertThat(loader.receipt(context.communicator()).toString())
          .startsWith("%,d samples, each exactly once".formatted(context.rows().rows()));
    }
    context.communicator().allReduce(samples, ReduceOp.SUM);
    assertThat(samples[1]).isEqualTo(samples[0] * (samples[0] - 1) / 2);
    return samples[0];
  }

  @Test
  void appendsWhileLoadersAreInsideAnEpoch() throws Exception {
    ResidentStore store = load();
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Long>> running =
        CompletableFuture.supplyAsync(
            () ->
                store.run(
                    context ->
                        epoch(
                            context,
                            () -> {
                              evidence.note("inside " + context.rank(), "");
                              evidence.awaitNote("go on");
                            })));
    try {
      evidence.awaitNote("inside 0");
      evidence.awaitNote("inside 1");
      assertThat(readers(store))
          .as("what the driver knows of loaders that run")
          .allSatisfy(
              rank -> {
                assertThat(rank.loader().batches()).isEqualTo(2);
                assertThat(rank.loader().readNanos()).isPositive();
                assertThat(rank.latency().count()).isPositive();
              })
          .extracting(ReaderStatistics::reader)
          .containsExactlyInAnyOrder("rank0", "rank1");
      store.append(frame(ROWS, ROWS + MORE));
      assertThat(store.rows()).isEqualTo(ROWS + MORE);
      assertThat(running).as("the epoch").isNotDone();
    } finally {
      evidence.note("go on", "");
    }
    assertThat(running.get(2, TimeUnit.MINUTES))
        .as("samples of the epoch in which rows were appended")
        .containsOnly((long) ROWS);
    assertThat(readers(store))
        .allSatisfy(
            rank -> {
              assertThat(rank.loader().batches()).isEqualTo(ROWS / 2 / 10);
              assertThat(rank.loader().computeNanos()).isPositive();
              assertThat(rank.loader().utilisation() + rank.loader().stallShare())
                  .isCloseTo(1, within(1e-9));
            });
    assertThat(store.run(context -> epoch(context, () -> {})))
        .as("samples of the next run")
        .containsOnly((long) ROWS + MORE);
  }

  private static List<ReaderStatistics> readers(ResidentStore store) {
    return store.statistics().executors().stream()
        .flatMap(executor -> executor.readers().stream())
        .toList();
  }

  /** The metrics of the store in one process. */
  private record Meters(String executor, Map<String, Long> values) implements Serializable {}

  private static Meters meters() {
    return new Meters(StartedRank.executorId(), StoreGauges.of("train"));
  }

  /** A rank of a run that had no place at home. */
  private record Seen(boolean home, String executor, Meters meters) implements Serializable {}

  @ParameterizedTest
  @CsvSource({"true, same_host", "false, remote"})
  void reportsARankThatRunsAwayFromItsOccupiedExecutor(boolean shortcut, String path)
      throws Exception {
    ResidentStore store = DDStores.from(frame(0, ROWS)).ranks(1).shortcut(shortcut).load("train");
    ResidentShard home = store.shards().get(0);
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Boolean>> occupied = cluster.occupy(home, 2, evidence);
    List<Seen> ranks;
    try {
      ranks =
          store.run(
              context -> {
                try (Reader reader = context.rows().reader();
                    Batch batch = reader.getBatch(3, ROWS - 1)) {
                  assertThat(batch.field("square").getLong(0)).isEqualTo(9);
                  assertThat(batch.field("square").getLong(1)).isEqualTo((ROWS - 1L) * (ROWS - 1L));
                }
                return new Seen(context.isHome(), context.executorId(), meters());
              });
    } finally {
      evidence.note("free", "");
    }
    assertThat(occupied.get(2, TimeUnit.MINUTES))
        .as("tasks that took the slots")
        .containsOnly(true);
    Seen rank = ranks.get(0);
    assertThat(rank.home()).as("at home").isFalse();
    assertThat(rank.executor()).isNotEqualTo(home.executorId());
    assertThat(readsElsewhere(store, rank.executor(), "rank0"))
        .as("what the driver has collected")
        .isEqualTo(2);
    assertThat(rank.meters().values())
        .as("while it ran")
        .containsEntry("rank0." + path + ".rows", 2L);
    assertThat(store.explain())
        .contains(
            "last run: rank 0 ran on executor %s, away from its shard: executor %s, which has its rows, had no free slot"
                .formatted(rank.executor(), home.executorId()));
    assertThat(cluster.inEverySlot(rows -> meters()))
        .as("metrics when it has ended, where nothing of the store is")
        .allMatch(meters -> meters.values().isEmpty());

    assertThat(store.run(RankContext::isHome)).containsExactly(true);
    assertThat(store.explain()).doesNotContain("away from its shard");
    assertThat(cluster.inEverySlot(rows -> meters()))
        .as("metrics at home stay as long as the store")
        .allMatch(
            meters -> meters.executor().equals(home.executorId()) != meters.values().isEmpty());
  }

  /** The executor of a rank of a run, and the rows that it has read. */
  private record Ran(String executor, boolean home, long rows) implements Serializable {}

  @Test
  void ranksRunElsewhereDespiteALocalityWait() throws Exception {
    ResidentStore store = load();
    List<ResidentShard> homes = store.shards();
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Boolean>> occupied = cluster.occupy(homes.get(0), 2, evidence);
    SparkConf live = cluster.session().sparkContext().conf(); // read for each stage
    String before = live.get("spark.locality.wait");
    List<Ran> ranks;
    String explained;
    try {
      live.set("spark.locality.wait", "3s"); // Spark's default
      ranks =
          store.run(
              context -> new Ran(context.executorId(), context.isHome(), epoch(context, () -> {})));
      explained = store.explain();
    } finally {
      live.set("spark.locality.wait", before);
      evidence.note("free", "");
    }
    assertThat(occupied.get(2, TimeUnit.MINUTES))
        .as("tasks that took the slots")
        .containsOnly(true);
    for (int rank = 0; rank < 2; rank++) {
      Ran ran = ranks.get(rank);
      assertThat(ran.rows()).isEqualTo(ROWS);
      assertThat(ran.executor()).isNotEqualTo(homes.get(0).executorId());
      assertThat(ran.home()).isEqualTo(ran.executor().equals(homes.get(rank).executorId()));
    }
    assertThat(explained)
        .contains("rank 0 ran on executor", "warning: setting spark.locality.wait is 3s");
  }

  @Test
  void explainWarnsOfRanksThatTakeAllSlots() {
    DDStores.from(frame(0, ROWS)).ranks(4).load("all");
    assertThat(DDStores.open(cluster.session(), "all").explain())
        .contains("4 ranks take all 4 slots: while they run every other job");
    assertThat(load().explain()).doesNotContain("slots: while they run");
  }

  @Test
  void logsTheSlotsWarningOncePerStore() {
    cluster.inEverySlot(rows -> 0); // all have registered
    try (LogTap log = LogTap.open()) {
      ResidentStore all = DDStores.from(frame(0, ROWS)).ranks(4).load("all");
      assertThat(log.of(SlotsWarning.class))
          .singleElement()
          .asString()
          .startsWith(
              "slots of store \"all\": 4 ranks take all 4 slots: while they run every other job");
      assertThat(
              all.run(
                  context -> {
                    assertThat(context.attempt()).as("the first fails").isGreaterThan(1);
                    return context.isHome();
                  }))
          .containsOnly(true);
      all.append(frame(ROWS, ROWS + MORE));
      assertThat(log.of(SlotsWarning.class)).as("after more jobs of the store").hasSize(1);
      DDStores.from(frame(0, ROWS)).ranks(4).replace("all");
      assertThat(log.of(SlotsWarning.class)).as("after another store").hasSize(2);
    }
  }

  @Test
  void logsTheSlotsWarningOncePerJob() {
    cluster.inEverySlot(rows -> 0); // all have registered
    try (LogTap log = LogTap.open()) {
      assertThat(
              DDStores.from(frame(0, ROWS))
                  .ranks(4)
                  .run(
                      context -> {
                        assertThat(context.attempt()).as("the first fails").isGreaterThan(1);
                        return context.rows().rows();
                      }))
          .containsOnly((long) ROWS);
      assertThat(log.of(SlotsWarning.class))
          .singleElement()
          .asString()
          .startsWith("slots of a job: 4 ranks take all 4 slots: while they run every other job");
    }
  }

  @Test
  void logsNoSlotsWarningIfASlotIsFree() {
    cluster.inEverySlot(rows -> 0); // all have registered
    try (LogTap log = LogTap.open()) {
      ResidentStore store = DDStores.from(frame(0, ROWS)).ranks(3).load("train");
      store.run(RankContext::isHome);
      DDStores.from(frame(0, ROWS)).ranks(3).run(RankContext::rank);
      assertThat(log.of(SlotsWarning.class)).isEmpty();
    }
  }

  @Test
  void metricsStayUntilTheLastReaderCloses() {
    ResidentStore store = load();
    StoreHandle handle = store.handle();
    assertThat(meters().values()).as("of the ranks, on the driver").hasSize(2 * 3 * 3);
    store.drop();
    assertThat(meters().values()).as("when it is dropped").isEmpty();
    // The driver has nothing of the store any more.
    StoreMetrics.Watch first = StoreMetrics.watch(handle.snapshot(), "first", List::of);
    StoreMetrics.Watch second = StoreMetrics.watch(handle.snapshot(), "second", List::of);
    first.close();
    first.close();
    assertThat(meters().values()).as("when another reader still reads").isNotEmpty();
    second.close();
    assertThat(meters().values()).as("when nobody reads").isEmpty();
  }

  @Test
  void countsReadsOfAttachedReaders() {
    ResidentStore store = DDStores.from(frame(0, ROWS)).ranks(1).load("train");
    String home = store.shards().get(0).executorId();
    StoreHandle handle = store.handle();
    List<Meters> inside =
        cluster.inEverySlot(
            rows -> {
              try (StoreReader attached = handle.attach();
                  Reader reader = attached.rows().reader();
                  Batch batch = reader.getBatch(3)) {
                assertThat(batch.field("square").getLong(0)).isEqualTo(9);
                return meters();
              }
            });
    assertThat(inside)
        .as("while they read")
        .allSatisfy(
            meters ->
                assertThat(meters.values().get(attachedRows(meters.executor().equals(home))))
                    .isBetween(1L, 2L));
    assertThat(cluster.inEverySlot(rows -> meters()))
        .as("when they are closed")
        .allSatisfy(
            meters -> {
              if (meters.executor().equals(home)) {
                assertThat(meters.values()).containsEntry(attachedRows(true), 2L);
              } else {
                assertThat(meters.values()).isEmpty();
              }
            });
    String other =
        inside.stream().map(Meters::executor).filter(id -> !id.equals(home)).findAny().get();
    assertThat(readsElsewhere(store, other, "attached")).isEqualTo(2);
    cluster.inEverySlot(
        rows -> {
          try (StoreReader attached = handle.attach();
              Reader reader = attached.rows().reader()) {
            reader.getBatch(5, 6).close();
          }
          return 0;
        });
    await("reads of both visits")
        .atMost(Duration.ofMinutes(1))
        .until(() -> readsElsewhere(store, other, "attached") == 6);
  }

  /** The rows that an executor without rows reports, when it has registered. */
  private static long readsElsewhere(ResidentStore store, String executor, String reader) {
    return await("a report of executor " + executor)
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                store.statistics().executors().stream()
                    .filter(e -> e.executorId().equals(executor) && e.ranks().isEmpty())
                    .flatMap(e -> e.readers().stream())
                    .filter(r -> r.reader().equals(reader))
                    .flatMap(r -> r.reads().stream())
                    .mapToLong(ReadCount::rows)
                    .sum(),
            rows -> rows > 0);
  }

  private static String attachedRows(boolean atHome) {
    return "attached.%s.rows".formatted(atHome ? "own_process" : "same_host");
  }
}
