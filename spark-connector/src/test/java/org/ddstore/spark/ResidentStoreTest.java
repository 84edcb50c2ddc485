// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.logging.log4j.Level;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.ddstore.Batch;
import org.ddstore.ReadStatistics;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.collective.ReduceOp;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.memory.BootId;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.cluster.RunWarnings;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.monitor.StoreJournal;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.spark.types.StoreEvent;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.spark.types.StoreStatistics;
import org.ddstore.spark.wire.LogTap;
import org.ddstore.types.Backing;
import org.ddstore.types.Loggers;
import org.ddstore.types.Plural;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stores that stay in two executors, 2 slots each, between jobs. */
@Tag("system")
@Timeout(600)
class ResidentStoreTest extends OnResidentCluster {
  private static final int ROWS = 400;

  /** Fixed and ragged fields, and a struct; all follow from the row's number. */
  static Dataset<Row> frame(long from, long to) {
    return cluster
        .session()
        .range(from, to, 1, 5)
        .selectExpr(
            "id",
            "concat('number ', id) as text",
            "transform(sequence(0, 3), i -> float(id + i)) as x",
            "named_struct('half', id / 2.0D, 'odd', id % 2 = 1) as about");
  }

  private static StoreSpec numbers() {
    return DDStores.from(frame(0, ROWS)).ranks(4);
  }

  /** Checks rows, in an order of their own, against what they follow from. */
  static void checkRows(Variable rows, long[] indices) {
    try (Reader reader = rows.reader();
        Batch batch = reader.getBatch(indices)) {
      for (int i = 0; i < indices.length; i++) {
        long id = indices[i];
        assertThat(batch.field("id").getLong(i)).isEqualTo(id);
        assertThat(batch.string("text", i)).isEqualTo("number " + id);
        for (int k = 0; k < 4; k++) {
          assertThat(batch.field("x").getFloat(4 * i + k)).isEqualTo((float) (id + k));
        }
        assertThat(batch.field("about.half").getDouble(i)).isEqualTo(id / 2.0);
        assertThat(batch.field("about.odd").getLong(i)).isEqualTo(id % 2);
      }
    }
  }

  static void checkAll(Variable rows, long count) {
    assertThat(rows.rows()).isEqualTo(count);
    long[] indices = new long[(int) count];
    for (int i = 0; i < count; i++) {
      indices[i] = (i * 7919L) % count;
    }
    checkRows(rows, indices);
  }

  /** The paths by which a task that is not a rank has read all rows. */
  private record Read(String executor, long ownProcess, long sameHost, long remote)
      implements Serializable {}

  private static List<Read> readInTasks(StoreHandle handle, long rows) {
    return cluster.inEverySlot(
        none -> {
          try (StoreReader reader = handle.attach()) {
            checkAll(reader.rows(), rows);
            List<ReadStatistics> paths = reader.store().statistics();
            return new Read(
                StartedRank.executorId(),
                paths.get(ReadPath.OWN_PROCESS.index()).rows(),
                paths.get(ReadPath.SAME_HOST.index()).rows(),
                paths.get(ReadPath.REMOTE.index()).rows());
          }
        });
  }

  @ParameterizedTest
  @CsvSource({
    "shm, true, tcp",
    "direct, true, tcp",
    "shm, false, tcp",
    "shm, true, mpi",
    "shm, false, mpi"
  })
  void ordinaryTasksAndTheDriverReadEveryRow(String backing, boolean shortcut, String transport) {
    ResidentStore store =
        numbers()
            .backing(Backing.valueOf(backing.toUpperCase(Locale.ROOT)))
            .shortcut(shortcut)
            .transport(transport)
            .load("numbers");

    assertThat(store.rows()).isEqualTo(ROWS);
    assertThat(store.ranks()).isEqualTo(4);
    assertThat(store.shards()).hasSize(4).allMatch(shard -> shard.rows() == ROWS / 4);
    assertThat(store.shards().stream().map(ResidentShard::executorId).distinct()).hasSize(2);
    assertThat(store.explain())
        .as("mpi is not for readers outside a job")
        .contains("transport: tcp, not encrypted, over data channels: tcp: asked for\n");
    List<Read> reads = readInTasks(store.handle(), ROWS);
    assertThat(reads).hasSize(4);
    if (!shortcut) {
      assertThat(reads)
          .allMatch(
              read -> read.ownProcess() == 0 && read.sameHost() == 0 && read.remote() >= ROWS);
    } else if (backing.equals("direct")) {
      assertThat(reads).allMatch(read -> read.remote() > 0 && read.ownProcess() > 0);
    } else {
      assertThat(reads).allMatch(read -> read.remote() == 0 && read.sameHost() > 0);
    }
    try (StoreReader reader = store.handle().attach()) {
      checkAll(reader.rows(), ROWS);
    }
    store.drop();
    store.drop();
    assertThat(store.isDropped()).isTrue();
    assertThatThrownBy(store::handle)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("dropped: ResidentStore[numbers:");
  }

  @Test
  void opensAStoreByItsName() {
    ResidentStore store = numbers().load("a");
    ResidentStore other = numbers().ranks(2).load("b");
    assertThat(DDStores.open(cluster.session(), "a")).isSameAs(store);
    assertThat(DDStores.list(cluster.session())).containsExactly(store, other);
    assertThat(store.toString()).startsWith("ResidentStore[a: 400 rows, 4 ranks, ");
    assertThat(store.digest()).isEqualTo(other.digest());
    assertThat(store.sourceSchema()).isEqualTo(frame(0, 1).schema());
    assertThat(store.handle().columns())
        .extracting(column -> String.join(".", column.path()))
        .containsExactly("id", "text", "x", "about.half", "about.odd");
    assertThatThrownBy(() -> numbers().load("a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("store \"a\" already exists")
        .hasMessageContaining("Call drop() on it first");
    assertThatThrownBy(() -> numbers().load("a b"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 128 letters, digits, _ and -");
    ResidentStore fresh = DDStores.from(frame(0, 10)).ranks(2).replace("a");
    assertThat(store.isDropped()).isTrue();
    assertThat(DDStores.open(cluster.session(), "a")).isSameAs(fresh);
    readInTasks(fresh.handle(), 10);
    readInTasks(other.handle(), ROWS);
    fresh.drop();
    assertThatThrownBy(() -> DDStores.open(cluster.session(), "a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no store \"a\" in this application; known stores: [b]");
  }

  /** Returns the bytes of rows: packed records, the offset of each, and the end of the last. */
  private static long bytesOf(long from, long to) {
    long bytes = Long.BYTES * (to - from + 1);
    for (long id = from; id < to; id++) {
      long fixed = 8 + 4 * 4 + 8 + 1; // id, x, half, odd
      bytes += fixed + 4 + ("number " + id).length(); // a ragged field begins with its length
    }
    return bytes;
  }

  @Test
  void reportsExactSizesOfAStoreAndItsExecutors() {
    ResidentStore store = numbers().shortcut(false).transport("tcp").load("a");
    store.append(frame(ROWS, ROWS + 40));
    long[] bytes = new long[4];
    for (int rank = 0; rank < 4; rank++) {
      bytes[rank] =
          bytesOf(100L * rank, 100L * (rank + 1))
              + bytesOf(ROWS + 10L * rank, ROWS + 10L * (rank + 1));
    }
    long all = Arrays.stream(bytes).sum();
    assertThat(store.bytes()).isEqualTo(all);
    try (StoreReader reader = store.handle().attach()) {
      checkRows(reader.rows(), new long[] {7}); // the only request, to rank 0
    }

    List<String> homes = store.shards().subList(0, 4).stream().map(s -> s.executorId()).toList();
    String host = store.shards().get(0).host();
    StoreStatistics statistics = store.statistics();
    List<ExecutorStatistics> holdings = new ArrayList<>();
    for (String executor : homes.stream().distinct().toList()) {
      List<Integer> ranks =
          IntStream.range(0, 4).filter(rank -> homes.get(rank).equals(executor)).boxed().toList();
      long held = ranks.stream().mapToLong(rank -> bytes[rank]).sum();
      long served = ranks.contains(0) ? 1 : 0;
      long answered = statistics.executors().get(holdings.size()).answeredMs();
      holdings.add(
          new ExecutorStatistics(
              executor, host, ranks, 4, 220, held, 0, served, answered, List.of(), List.of()));
    }
    assertThat(holdings).hasSize(2);
    assertThat(statistics.executors().subList(0, 2)).isEqualTo(holdings);
    assertThat(statistics.executors().get(2).readers())
        .as("reads of the driver")
        .extracting(
            ReaderStatistics::reader, reader -> reader.reads().get(ReadPath.REMOTE.index()).rows())
        .containsExactly(tuple("attached", 1L));
    List<String> lines = new ArrayList<>();
    lines.add("\"a\": 440 rows of " + store.schema());
    lines.add("%,d bytes per copy, 1 copy of 4 ranks, loaded in 2 parts".formatted(all));
    lines.add("transport: tcp, not encrypted, over data channels: tcp: asked for");
    for (ExecutorStatistics of : holdings) {
      lines.add(
          "executor %s (%s): ranks %s, 220 rows in 4 shards, %,d bytes; %s served"
              .formatted(
                  of.executorId(),
                  host,
                  of.ranks(),
                  of.bytes(),
                  Plural.of(of.servedRequests(), "request")));
    }
    lines.add("warning: " + RunWarnings.ofSlots(4, 4).orElseThrow());
    assertThat(store.explain().lines()).containsExactlyElementsOf(lines);
    assertThat(store.run(RankContext::executorId)).isEqualTo(homes);
  }

  @Test
  void runsRanksBesideTheirShardsRepeatedly() {
    ResidentStore train = numbers().maxAttempts(1).load("train");
    ResidentStore validation = DDStores.from(frame(0, 40)).ranks(4).load("validation");
    List<String> homes = train.shards().stream().map(ResidentShard::executorId).toList();
    for (int round = 0; round < 3; round++) {
      List<String> executors =
          train.run(
              context -> {
                assertThat(context.isHome()).as("at home").isTrue();
                checkAll(context.rows(), ROWS);
                assertThat(context.rows().localRows()).isEqualTo(ROWS / 4);
                long[] ranks = {1L << context.rank()};
                context.communicator().allReduce(ranks, ReduceOp.SUM);
                assertThat(ranks).containsExactly(15L);
                context.store().add("own", Tensor.wrap(new long[] {context.rank()}));
                long[] all = new long[4];
                context.store().get("own", Tensor.wrap(all), 0);
                assertThat(all).containsExactly(0, 1, 2, 3);
                return context.executorId();
              });
      assertThat(executors).isEqualTo(homes);
      assertThat(train.run(context -> context.store().digest(RankContext.ROWS)))
          .containsOnly(train.digest());
    }
    assertThat(validation.run(context -> context.rows().rows())).containsOnly(40L);
    assertThatThrownBy(
            () ->
                train.run(
                    context -> {
                      context.store().epochBegin();
                      context
                          .store()
                          .append(RankContext.ROWS, Tensor.wrap(new long[] {context.rank()}));
                      return 0;
                    }))
        .hasMessageContaining("cannot be appended to");
  }

  @Test
  void loadersCoverAResidentStore() {
    ResidentStore store = numbers().load("train");
    List<Long> sums =
        store.run(
            context -> {
              long sum = 0;
              try (Loader loader = context.loader(Samplers.shuffled(42).batchSize(10))) {
                for (LoadedBatch batch : loader.epoch(0)) {
                  try (batch) {
                    for (int i = 0; i < batch.rows(); i++) {
                      sum += batch.field("id").getLong(i);
                    }
                  }
                }
              }
              return sum;
            });
    assertThat(sums.stream().mapToLong(Long::longValue).sum()).isEqualTo(ROWS * (ROWS - 1L) / 2);
  }

  @Test
  void retriesFailedUserCodeAndKeepsTheStore() {
    ResidentStore store = numbers().load("train");
    assertThat(
            store.run(
                context -> {
                  if (context.attempt() == 1 && context.rank() == 2) {
                    throw new IllegalStateException("first attempt");
                  }
                  checkAll(context.rows(), ROWS);
                  return context.attempt();
                }))
        .containsOnly(2);
    assertThatThrownBy(
            () ->
                DDStores.from(frame(0, ROWS))
                    .ranks(4)
                    .maxAttempts(1)
                    .replace("train")
                    .run(
                        context -> {
                          throw new IllegalStateException("always");
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasStackTraceContaining("always");
    readInTasks(DDStores.open(cluster.session(), "train").handle(), ROWS);
  }

  @Test
  void appendAddsRowsWithoutChangingOldReaders() throws Exception {
    ResidentStore store = numbers().load("train");
    StoreHandle before = store.handle();
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (StoreReader old = before.attach()) {
      Future<List<Long>> running =
          thread.submit(
              () ->
                  DDStores.open(cluster.session(), "train")
                      .run(
                          context -> {
                            long rows = 0;
                            try (Loader loader =
                                context.loader(Samplers.shuffled(1).batchSize(10))) {
                              for (LoadedBatch batch : loader.epoch(0)) {
                                try (batch) {
                                  rows += batch.rows();
                                }
                              }
                            }
                            return rows;
                          }));
      running.get(2, TimeUnit.MINUTES);
      store.append(frame(ROWS, ROWS + 37));
      store.append(frame(ROWS + 37, ROWS + 39).selectExpr("about", "x", "text", "id"));
      assertThat(store.rows()).isEqualTo(ROWS + 39);
      checkAll(old.rows(), ROWS);
    } finally {
      thread.shutdown();
    }
    readInTasks(store.handle(), ROWS + 39);
    readInTasks(before, ROWS);
    assertThat(store.shards()).hasSize(12);
    ResidentStore whole = DDStores.from(frame(0, ROWS + 39)).ranks(2).load("whole");
    assertThat(store.digest()).isEqualTo(whole.digest());
    assertThat(store.run(context -> context.store().digest(RankContext.ROWS)))
        .containsOnly(whole.digest());
    assertThatThrownBy(() -> store.append(frame(0, 1).drop("x")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("missing [x], unexpected []");
    assertThatThrownBy(() -> store.append(frame(0, 5).withColumn("id", functions.lit("a"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("column id of type string where the store has id of type bigint");
    assertThatThrownBy(
            () -> store.append(frame(0, 5).withColumn("x", functions.expr("array(float(1))"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"train\"")
        .hasMessageContaining("x");
    assertThat(store.rows()).isEqualTo(ROWS + 39);
  }

  @ParameterizedTest
  @CsvSource({"2, true", "2, false", "1, true"})
  void everyReplicaGroupHoldsTheRows(int width, boolean shortcut) {
    ResidentStore store = numbers().width(width).shortcut(shortcut).load("copies");
    store.append(frame(ROWS, ROWS + 10));
    assertThat(store.width()).isEqualTo(width);
    assertThat(store.rows()).isEqualTo(ROWS + 10);
    readInTasks(store.handle(), ROWS + 10);
    List<Integer> groups =
        store.run(
            context -> {
              checkAll(context.rows(), ROWS + 10);
              assertThat(context.store().ranks()).isEqualTo(width);
              return context.replicaGroup();
            });
    assertThat(groups).isEqualTo(IntStream.range(0, 4).mapToObj(r -> r / width).toList());
  }

  @Test
  void rejectsReadsOfADroppedStoreBeforeTheTimeout() {
    ResidentStore store =
        numbers().shortcut(false).readTimeout(Duration.ofSeconds(20)).load("gone");
    StoreHandle handle = store.handle();
    store.drop();
    assertThatThrownBy(() -> readInTasks(handle, ROWS))
        .hasStackTraceContaining("closed all its stores");
  }

  @Test
  void recordsEachChangeOnce() {
    StoreJournal journal = StoreJournal.of(cluster.session().sparkContext());
    int before = journal.events().size();
    List<String> logged;
    long bytes;
    LogTap.setLevel(StoreJournal.class, Level.INFO);
    try (LogTap log = LogTap.open()) {
      ResidentStore first = numbers().load("noted");
      bytes = first.bytes();
      ResidentStore store = first.replace(frame(0, ROWS));
      first.drop(); // was dropped before
      store.append(frame(ROWS, ROWS + 40));
      store.run(
          context -> {
            checkAll(context.rows(), ROWS + 40);
            return 0;
          });
      readInTasks(store.handle(), ROWS + 40);
      assertThatThrownBy(() -> store.append(frame(0, 1).drop("id")))
          .isInstanceOf(IllegalArgumentException.class);
      store.grant("eval", Duration.ofHours(1));
      store.revoke("eval");
      store.revoke("eval");
      RankPlaces.prepare(store, 1);
      RankPlaces.prepare(store, 2); // of the same run
      store.drop();
      store.drop();
      numbers().run(context -> 0);
      journal.record(new StoreEvent(0, "", StoreEvent.Kind.RUN, "a\nb\u001b[2Jc", 0, 0, 0));
      logged = log.of(StoreJournal.class);
    } finally {
      LogTap.setLevel(StoreJournal.class, null);
    }
    List<StoreEvent> events = journal.events().subList(before, journal.events().size());
    assertThat(events)
        .extracting(StoreEvent::store, StoreEvent::kind, StoreEvent::rows)
        .containsExactly(
            tuple("noted", StoreEvent.Kind.LOAD, (long) ROWS),
            tuple("noted", StoreEvent.Kind.LOAD, (long) ROWS),
            tuple("noted", StoreEvent.Kind.APPEND, 40L),
            tuple("noted", StoreEvent.Kind.RUN, 4L * (ROWS + 40)),
            tuple("noted", StoreEvent.Kind.GRANT, ROWS + 40L),
            tuple("noted", StoreEvent.Kind.REVOKE, 0L),
            tuple("noted", StoreEvent.Kind.RUN, 0L),
            tuple("noted", StoreEvent.Kind.DROP, ROWS + 40L),
            tuple("", StoreEvent.Kind.RUN, (long) ROWS),
            tuple("", StoreEvent.Kind.RUN, 0L));
    assertThat(events.get(0).bytes()).isEqualTo(bytes);
    assertThat(events.get(1).text()).endsWith(", instead of %d rows".formatted(ROWS));
    assertThat(events.get(9).text()).isEqualTo("a b [2Jc");
    assertThat(logged).hasSize(events.size()).last().isEqualTo("run without a store: a b [2Jc");
    assertThat(logged.get(0)).startsWith("store \"noted\": loaded %d rows, ".formatted(ROWS));
  }

  /** Spark configures log4j2: its appenders and levels, by the name of the class. */
  @Test
  void classesOfCoreLogWhereSparkDoes() {
    System.Logger logger = Loggers.of(BootId.class);
    try (LogTap log = LogTap.open()) {
      logger.log(System.Logger.Level.WARNING, "read {0} of {1}", "a", 7);
      LogTap.setLevel(BootId.class, Level.ERROR);
      try {
        logger.log(System.Logger.Level.WARNING, "not read");
        assertThat(logger.isLoggable(System.Logger.Level.WARNING)).isFalse();
        logger.log(System.Logger.Level.ERROR, "failed", new IOException("cause"));
      } finally {
        LogTap.setLevel(BootId.class, null);
      }
      assertThat(log.of(BootId.class)).containsExactly("read a of 7", "failed");
    }
  }

  @Test
  void failedLoadLeavesNothing() {
    assertThatThrownBy(
            () ->
                DDStores.from(
                        frame(0, ROWS).withColumn("bad", functions.expr("if(id = 399, null, 1)")))
                    .ranks(4)
                    .load("bad"))
        .hasMessageContaining("bad");
    assertThat(DDStores.list(cluster.session())).isEmpty();
    cluster.assertNothingHeld();
    numbers().load("bad").drop();
  }
}
