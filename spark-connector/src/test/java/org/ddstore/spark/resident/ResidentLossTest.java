// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.LongAccumulator;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.OnTestCluster;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.monitor.StoreJournal;
import org.ddstore.spark.types.RebuildDiffersException;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.spark.types.StoreEvent;
import org.ddstore.spark.types.StoreStatistics;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The loss of one of two executors, of 2 slots each, under resident stores. All stores lose it at
 * the same time, before the first test; each test has a store of its own.
 */
@Tag("system")
@Timeout(600)
class ResidentLossTest extends OnTestCluster {
  private static final int MORE = 30;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir private static Path files;

  /** Handles of all stores, by name, from before the loss. */
  private static final Map<String, StoreHandle> HANDLES = new HashMap<>();

  /** Digests of all stores, by name, from before the loss. */
  private static final Map<String, String> DIGESTS = new HashMap<>();

  private static ResidentStore shortcut;
  private static ResidentStore network;
  private static ResidentStore counted;
  private static LongAccumulator read;
  private static ResidentStore copies;
  private static StoreReader readerOfCopies;
  private static ResidentStore changing;
  private static ResidentStore gone;
  private static String victim;

  @BeforeAll
  static void loseAnExecutor() {
    cluster = TestCluster.start(2, 2, 1024);
    shortcut = withMore(numbers().load("shortcut"));
    network = withMore(numbers().shortcut(false).load("network"));
    counted = DDStores.from(countedRows()).ranks(4).load("counted");
    copies = withMore(numbers().width(2).shortcut(false).load("copies"));
    changing = DDStores.from(changingRows()).ranks(4).load("changing");
    numberedRows().write().parquet(source().toString());
    gone =
        DDStores.from(cluster.session().read().parquet(source().toString())).ranks(4).load("gone");
    for (ResidentStore store : DDStores.list(cluster.session())) {
      DIGESTS.put(store.name(), store.digest());
      HANDLES.put(store.name(), store.handle());
    }
    readerOfCopies = copies.handle().attach();
    checkNumbered(readerOfCopies.rows(), ROWS + MORE);
    assertCopiesAreApart("before the loss");

    assertThat(List.of(shortcut.statistics(), network.statistics()))
        .allMatch(before -> before.losses() == 0 && before.lostRanks().isEmpty());
    victim = killHolder(shortcut);
    for (ResidentStore store : DDStores.list(cluster.session())) {
      awaitLoss(store);
    }
  }

  @AfterAll
  static void assertNothingLeft() {
    if (readerOfCopies != null) {
      readerOfCopies.close();
    }
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
    cluster.assertNothingLeft();
  }

  private static StoreSpec numbers() {
    return DDStores.from(numberedRows()).ranks(4).readTimeout(Duration.ofSeconds(30));
  }

  private static ResidentStore withMore(ResidentStore store) {
    store.append(numberedRows(ROWS, ROWS + MORE));
    return store;
  }

  /** Rows that count how often they are computed. */
  private static Dataset<Row> countedRows() {
    LongAccumulator count = cluster.session().sparkContext().longAccumulator();
    read = count;
    UDF1<Long, Long> counting =
        id -> {
          count.add(1L);
          return id;
        };
    return cluster
        .session()
        .range(0, ROWS, 1, 20)
        .select(functions.udf(counting, DataTypes.LongType).apply(functions.col("id")).as("n"));
  }

  /** Rows that differ each time they are computed. */
  private static Dataset<Row> changingRows() {
    UDF1<Long, Long> clock = id -> id * 0 + System.nanoTime();
    return numberedRows()
        .withColumn(
            "now",
            functions
                .udf(clock, DataTypes.LongType)
                .asNondeterministic()
                .apply(functions.col("id")));
  }

  private static Path source() {
    return files.resolve("rows");
  }

  private static void assertCopiesAreApart(String when) {
    for (int member = 0; member < 2; member++) {
      assertThat(copies.shards().get(member).executorId())
          .as("where copies of shard %d are %s", member, when)
          .isNotEqualTo(copies.shards().get(2 + member).executorId());
    }
  }

  private static void readInTasks(StoreHandle handle, int rows) {
    cluster.inEverySlot(
        none -> {
          try (StoreReader reader = handle.attach()) {
            checkNumbered(reader.rows(), rows);
          }
          return 0;
        });
  }

  /** Kills the executor that holds the shard of rank 1. */
  private static String killHolder(ResidentStore store) {
    String holder = store.shards().get(1).executorId();
    Set<Long> killed = Set.of(cluster.pids().get(holder));
    assertThat(Leftovers.directoriesOf(killed)).as("before the loss").isNotEmpty();
    killed.forEach(OnTestCluster::kill);
    await("files of the lost executor are deleted without a new load")
        .atMost(PATIENCE)
        .until(() -> Leftovers.directoriesOf(killed).isEmpty());
    return holder;
  }

  private static void awaitLoss(ResidentStore store) {
    await("the driver knows that \"%s\" has lost shards".formatted(store.name()))
        .atMost(PATIENCE)
        .until(() -> store.shards().stream().anyMatch(ResidentShard::isLost));
  }

  private static Set<Integer> lostRanks(ResidentStore store) {
    return store.shards().stream()
        .filter(ResidentShard::isLost)
        .map(ResidentShard::rank)
        .collect(Collectors.toSet());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nextRunReloadsLostRowsWithoutCopies(boolean isShortcut) {
    ResidentStore store = isShortcut ? shortcut : network;
    StoreHandle before = HANDLES.get(store.name());
    List<ResidentShard> lost = store.shards();
    assertThat(lost).allMatch(shard -> shard.isLost() == shard.executorId().equals(victim));
    assertThat(store.explain()).contains("lost: ", "with executor " + victim);
    StoreStatistics with = store.statistics();
    List<ResidentShard> gone = lost.stream().filter(ResidentShard::isLost).toList();
    assertThat(with.losses()).isEqualTo(gone.size());
    assertThat(with.lostRanks()).containsExactlyInAnyOrderElementsOf(lostRanks(store));
    assertThat(with.unreadableRows())
        .isEqualTo(gone.stream().mapToLong(ResidentShard::rows).sum())
        .isPositive();
    assertThat(with.executors())
        .as("the last report of the lost executor stays")
        .filteredOn(executor -> executor.executorId().equals(victim))
        .singleElement()
        .matches(executor -> executor.answeredMs() > 0)
        .matches(executor -> executor.ranks().isEmpty() && executor.rows() == 0);
    if (!isShortcut) {
      assertThatThrownBy(() -> readInTasks(before, ROWS + MORE))
          .hasStackTraceContaining("org.ddstore.types.RankLostException");
    }

    List<Boolean> home =
        store.run(
            context -> {
              checkNumbered(context.rows(), ROWS + MORE);
              return context.isHome();
            });
    assertThat(home).as("%s%n%s", store.explain(), store.shards()).containsOnly(true);
    assertThat(lostRanks(store)).isEmpty();
    StoreStatistics after = store.statistics();
    assertThat(List.of(after.losses(), after.repairs(), after.unreadableRows()))
        .as("losses, repairs and rows without a copy")
        .containsExactly(with.losses(), 1L, 0L);
    assertThat(after.repairMillis()).isPositive();
    assertThat(store.digest()).isEqualTo(DIGESTS.get(store.name()));
    for (int i = 0; i < lost.size(); i++) {
      ResidentShard then = lost.get(i);
      ResidentShard now = store.shards().get(i);
      assertThat(now.digest()).isEqualTo(then.digest());
      if (then.isLost()) {
        assertThat(now.executorId()).as("of what was lost").isNotEqualTo(victim);
      } else {
        assertThat(now).as("what was not lost").isEqualTo(then);
      }
    }
    checkAddresses(lost, addresses(before), addresses(store.handle()));
    readInTasks(store.handle(), ROWS + MORE);
  }

  private static void checkAddresses(
      List<ResidentShard> shards, List<SegmentAddress> before, List<SegmentAddress> after) {
    assertThat(before).hasSameSizeAs(shards);
    assertThat(after).hasSameSizeAs(shards);
    for (int i = 0; i < shards.size(); i++) {
      SegmentAddress then = before.get(i);
      SegmentAddress now = after.get(i);
      if (shards.get(i).isLost()) {
        assertThat(now.nonce()).as("of what was lost").isNotEqualTo(then.nonce());
        assertThat(now.path()).isNotEqualTo(then.path());
        assertThat(now.endpoint()).isNotEqualTo(then.endpoint());
      } else {
        assertThat(now).as("of what was not lost").isEqualTo(then);
      }
    }
  }

  /** In the order of the store's shards. */
  private static List<SegmentAddress> addresses(StoreHandle handle) {
    return handle.catalogs().get(0).segments(RankContext.ROWS);
  }

  /** Only rows of the lost shards are read; no others are read and skipped. */
  @Test
  void repairReadsOnlyTheLostRows() {
    assertThat(read.value()).as("rows read by the load").isEqualTo(ROWS);
    long lost = ROWS / 4L * lostRanks(counted).size();
    assertThat(lost).isBetween(1L, ROWS - 1L);

    counted.repair();

    assertThat(lostRanks(counted)).isEmpty();
    assertThat(read.value() - ROWS).as("rows read by the repair").isEqualTo(lost);
    counted.run(RankContext::isHome);
    assertThat(read.value() - ROWS).as("rows read by a run after it").isEqualTo(lost);
    List<StoreEvent> events =
        StoreJournal.of(cluster.session().sparkContext()).events().stream()
            .filter(event -> event.store().equals(counted.name()))
            .filter(event -> event.kind() != StoreEvent.Kind.RUN)
            .toList();
    assertThat(events)
        .extracting(StoreEvent::kind, StoreEvent::rows)
        .containsExactly(
            tuple(StoreEvent.Kind.LOAD, (long) ROWS),
            tuple(StoreEvent.Kind.LOSS, lost),
            tuple(StoreEvent.Kind.REPAIR, lost));
  }

  /** A load, an append or a repair can notice the end of an executor before Spark reports it. */
  @Test
  void recordsALossOnceWhenAChangeNoticesIt() {
    SparkContext context = cluster.session().sparkContext();
    SegmentAddress segment =
        new SegmentAddress(
            Nonce.random(), BootId.ofThisHost(), null, 1, 8, "p", new ProcessAddress("h", 7077, 1));
    String address = Base64.getEncoder().encodeToString(segment.toBytes());
    List<ShardReport> shards = new ArrayList<>();
    for (int rank = 0; rank < 3; rank++) {
      shards.add(new ShardReport(rank, address, rank, 1, 8, 0, 0, "end" + rank, "h", "tcp"));
    }
    ResidentLayout layout =
        ResidentLayout.of(
                Schema.of(Field.fixed("id", DType.INT64)), new ReplicaGroups(3, 3), shards)
            .without(Set.of("end0"));
    ResidentPlaces places = new ResidentPlaces("noticed", context, layout, () -> "noticed");
    new StoreEvents(context, "noticed").loaded("loaded", layout, System.nanoTime(), "");
    places.change(now -> now.without(Set.of("end1")));
    places.markLost(Set.of("end0", "end1"));
    places.markLost(Set.of("end2"));
    assertThat(places.losses()).isEqualTo(3);
    assertThat(StoreJournal.of(context).events())
        .filteredOn(event -> event.store().equals("noticed"))
        .filteredOn(event -> event.kind() == StoreEvent.Kind.LOSS)
        .extracting(StoreEvent::rows, event -> event.text().split("; ", 2)[0])
        .containsExactly(
            tuple(1L, "lost 1 shard, 1 row, 8 B with executors [end0]"),
            tuple(1L, "lost 1 shard, 1 row, 8 B with executors [end1]"),
            tuple(1L, "lost 1 shard, 1 row, 8 B with executors [end2]"));
  }

  @Test
  void readersAndTheNextRunUseTheCopies() {
    checkNumbered(readerOfCopies.rows(), ROWS + MORE);
    Set<Integer> lost = lostRanks(copies);
    assertThat(lost).hasSize(2);
    readInTasks(copies.handle(), ROWS + MORE);
    copies.run(
        context -> {
          checkNumbered(context.rows(), ROWS + MORE);
          return 0;
        });
    assertThat(lostRanks(copies)).as("the run has loaded nothing").isEqualTo(lost);

    copies.repair();

    assertThat(lostRanks(copies)).isEmpty();
    assertThat(copies.digest()).isEqualTo(DIGESTS.get(copies.name()));
    assertCopiesAreApart("after the repair");
    readInTasks(copies.handle(), ROWS + MORE);
  }

  @Test
  void rejectsReloadedRowsThatDiffer() {
    Set<Integer> lost = lostRanks(changing);
    assertThatThrownBy(() -> changing.run(context -> 0))
        .isInstanceOf(RebuildDiffersException.class)
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("of \"changing\" differ from the first load")
        .hasMessageContaining("drop() the store and load it anew");
    assertThatThrownBy(changing::repair).isInstanceOf(RebuildDiffersException.class);
    assertThat(lostRanks(changing)).isEqualTo(lost);
  }

  @Test
  void rowsOfDeletedFilesAreReportedAsLost() throws IOException {
    try (Stream<Path> all = Files.list(source())) {
      for (Path file : all.toList()) {
        Files.writeString(file, "no rows any more");
      }
    }
    assertThatThrownBy(gone::repair)
        .isInstanceOf(DDStoreException.class)
        .hasMessageStartingWith("rows of \"gone\" were lost with their executor, and their source")
        .hasMessageContaining("root cause: ")
        .hasMessageContaining("is not a Parquet file");
    assertThat(lostRanks(gone)).isNotEmpty();
  }
}
