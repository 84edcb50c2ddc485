package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.LongAccumulator;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Variable;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.RebuildDiffersException;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Executors that end under resident stores: 2 of them, 2 slots each. */
@Tag("system")
@Timeout(600)
class ResidentLossTest extends OnResidentCluster {
  private static final int ROWS = 1000;
  private static final int MORE = 30;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** What the dead have left is looked for, too. */
  @BeforeEach
  void lookWhoIsThere() {
    cluster.inEverySlot(rows -> 0);
    cluster.executors();
  }

  private static Dataset<Row> frame(long from, long to) {
    return cluster
        .session()
        .range(from, to, 1, 3)
        .selectExpr("id", "concat('number ', id) as text", "array(float(id), float(-id)) as x");
  }

  @Override
  boolean endsExecutors() {
    return true;
  }

  private static StoreSpec numbers() {
    return DDStores.from(frame(0, ROWS)).ranks(4).readTimeout(Duration.ofSeconds(30));
  }

  private static void checkAll(Variable rows, int count) {
    assertThat(rows.rows()).isEqualTo(count);
    long[] indices = new long[count];
    Arrays.setAll(indices, i -> (i * 7919L) % count);
    try (Reader reader = rows.reader();
        Batch batch = reader.getBatch(indices)) {
      for (int i = 0; i < count; i++) {
        long id = indices[i];
        assertThat(batch.field("id").getLong(i)).isEqualTo(id);
        assertThat(batch.string("text", i)).isEqualTo("number " + id);
        assertThat(batch.field("x").getFloat(2L * i)).isEqualTo((float) id);
        assertThat(batch.field("x").getFloat(2L * i + 1)).isEqualTo((float) -id);
      }
    }
  }

  private static void readInTasks(StoreHandle handle, int rows) {
    cluster.inEverySlot(
        none -> {
          try (StoreReader reader = handle.attach()) {
            checkAll(reader.rows(), rows);
          }
          return 0;
        });
  }

  /** Kills the executor that holds the shard of rank 1, and waits until the driver knows it. */
  private static String killHolder(ResidentStore store) {
    String victim = store.shards().get(1).executorId();
    cluster
        .inEverySlot(none -> StartedRank.executorId() + " " + ProcessHandle.current().pid())
        .stream()
        .filter(idAndPid -> idAndPid.startsWith(victim + " "))
        .map(idAndPid -> Long.valueOf(idAndPid.substring(victim.length() + 1)))
        .distinct()
        .forEach(pid -> ProcessHandle.of(pid).orElseThrow().destroyForcibly());
    await("the driver knows that the executor is lost")
        .atMost(PATIENCE)
        .until(() -> store.shards().stream().anyMatch(ResidentShard::isLost));
    return victim;
  }

  private static Set<Integer> lostRanks(ResidentStore store) {
    return store.shards().stream()
        .filter(ResidentShard::isLost)
        .map(ResidentShard::rank)
        .collect(Collectors.toSet());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void withoutCopiesTheNextRunLoadsWhatIsLostAgain(boolean shortcut) {
    ResidentStore store = numbers().shortcut(shortcut).load("train");
    store.append(frame(ROWS, ROWS + MORE));
    String digest = store.digest();
    StoreHandle before = store.handle();

    String victim = killHolder(store);
    List<ResidentShard> lost = store.shards();
    assertThat(lost).allMatch(shard -> shard.isLost() == shard.executorId().equals(victim));
    assertThat(store.explain()).contains("lost: ", "with executor " + victim);
    if (!shortcut) {
      long startNs = System.nanoTime();
      assertThatThrownBy(() -> readInTasks(before, ROWS + MORE))
          .hasStackTraceContaining("org.ddstore.types.RankLostException");
      assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(PATIENCE);
    }

    List<Boolean> home =
        store.run(
            context -> {
              checkAll(context.rows(), ROWS + MORE);
              return context.isHome();
            });
    assertThat(home).as("%s%n%s", store.explain(), store.shards()).containsOnly(true);
    assertThat(lostRanks(store)).isEmpty();
    assertThat(store.digest()).isEqualTo(digest);
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

  /** Rows of partitions that are no part of one lost shard only would be passed over. */
  @Test
  void onlyTheRowsThatWereLostAreReadAgain() {
    LongAccumulator read = cluster.session().sparkContext().longAccumulator();
    UDF1<Long, Long> counted =
        id -> {
          read.add(1L);
          return id;
        };
    Dataset<Row> source =
        cluster
            .session()
            .range(0, ROWS, 1, 20)
            .select(functions.udf(counted, DataTypes.LongType).apply(functions.col("id")).as("n"));
    ResidentStore store = DDStores.from(source).ranks(4).load("counted");
    assertThat(read.value()).as("rows read by the load").isEqualTo(ROWS);

    killHolder(store);
    long lost = ROWS / 4L * lostRanks(store).size();
    assertThat(lost).isBetween(1L, ROWS - 1L);
    store.repair();

    assertThat(lostRanks(store)).isEmpty();
    assertThat(read.value() - ROWS).as("rows read by the repair").isEqualTo(lost);
    store.run(RankContext::isHome);
    assertThat(read.value() - ROWS).as("rows read by a run after it").isEqualTo(lost);
  }

  @Test
  void anExecutorThatEndsInARunIsReplaced() {
    ResidentStore store = numbers().load("train");
    List<Integer> attempts =
        store.run(
            context -> {
              checkAll(context.rows(), ROWS);
              context.communicator().barrier();
              if (context.attempt() == 1 && context.rank() == 1) {
                Runtime.getRuntime().halt(9);
              }
              context.communicator().barrier();
              checkAll(context.rows(), ROWS);
              return context.attempt();
            });
    assertThat(attempts).hasSize(4).allMatch(attempt -> attempt >= 2);
    assertThat(lostRanks(store)).isEmpty();
    readInTasks(store.handle(), ROWS);
  }

  @Test
  void withCopiesReadersGoOnAndTheNextRunStartsWithoutLoading() {
    ResidentStore store = numbers().width(2).shortcut(false).load("copies");
    store.append(frame(ROWS, ROWS + MORE));
    String digest = store.digest();
    for (int member = 0; member < 2; member++) {
      assertThat(store.shards().get(member).executorId())
          .as("where copies of shard %d are", member)
          .isNotEqualTo(store.shards().get(2 + member).executorId());
    }
    try (StoreReader reader = store.handle().attach()) {
      checkAll(reader.rows(), ROWS + MORE);

      killHolder(store);

      checkAll(reader.rows(), ROWS + MORE);
    }
    Set<Integer> lost = lostRanks(store);
    assertThat(lost).hasSize(2);
    readInTasks(store.handle(), ROWS + MORE);
    store.run(
        context -> {
          checkAll(context.rows(), ROWS + MORE);
          return 0;
        });
    assertThat(lostRanks(store)).as("the run has loaded nothing").isEqualTo(lost);

    store.repair();

    assertThat(lostRanks(store)).isEmpty();
    assertThat(store.digest()).isEqualTo(digest);
    for (int member = 0; member < 2; member++) {
      assertThat(store.shards().get(member).executorId())
          .as("where copies of shard %d are after the repair", member)
          .isNotEqualTo(store.shards().get(2 + member).executorId());
    }
    readInTasks(store.handle(), ROWS + MORE);
  }

  @Test
  void rowsThatDoNotComeBackAsTheyWereAreRefused() throws IOException {
    UDF1<Long, Long> clock = id -> id * 0 + System.nanoTime();
    Dataset<Row> changing =
        frame(0, ROWS)
            .withColumn(
                "now",
                functions
                    .udf(clock, DataTypes.LongType)
                    .asNondeterministic()
                    .apply(functions.col("id")));
    ResidentStore store = DDStores.from(changing).ranks(4).load("changing");
    Path files = directory.resolve("rows");
    frame(0, ROWS).write().parquet(files.toString());
    ResidentStore gone =
        DDStores.from(cluster.session().read().parquet(files.toString())).ranks(4).load("gone");
    killHolder(store);
    Set<Integer> lost = lostRanks(store);
    assertThatThrownBy(() -> store.run(context -> 0))
        .isInstanceOf(RebuildDiffersException.class)
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("of \"changing\" are not what they were")
        .hasMessageContaining("drop() the store and load it anew");
    assertThatThrownBy(store::repair).isInstanceOf(RebuildDiffersException.class);
    assertThat(lostRanks(store)).isEqualTo(lost);

    try (Stream<Path> all = Files.list(files)) {
      for (Path file : all.toList()) {
        Files.writeString(file, "no rows any more");
      }
    }
    assertThatThrownBy(gone::repair)
        .isInstanceOf(DDStoreException.class)
        .hasMessageStartingWith(
            "rows of \"gone\" went with their executor, and what they came from")
        .hasMessageContaining("root cause: ")
        .hasMessageContaining("is not a Parquet file");
    assertThat(lostRanks(gone)).isNotEmpty();
  }
}
