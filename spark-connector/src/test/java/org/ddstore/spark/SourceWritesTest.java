// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.ddstore.spark.resident.WriteLock;
import org.ddstore.spark.source.EveryType;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.StoreChangedException;
import org.ddstore.spark.wire.LogTap;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores written as tables, on two executors with two slots each. */
@Tag("system")
@Timeout(300)
class SourceWritesTest extends SourceOnCluster {
  private static final int ROWS = 1_000;

  /**
   * Writers beside the test: each has ended, even if the test failed, before stores are dropped.
   */
  private final List<CompletableFuture<?>> writers = new ArrayList<>();

  private final List<Thread> threads = new ArrayList<>();

  @BeforeAll
  static void start() {
    start(2, 2);
  }

  @AfterEach
  void endWriters() throws Exception {
    for (Thread thread : threads) {
      thread.interrupt();
      thread.join(TimeUnit.MINUTES.toMillis(2));
    }
    for (CompletableFuture<?> writer : writers) {
      writer.handle((result, failure) -> null).get(2, TimeUnit.MINUTES);
    }
  }

  private Dataset<Row> numbers() {
    return spark
        .range(ROWS)
        .selectExpr("id", "cast(id % 7 as int) as label", "cast(id as float) as value");
  }

  @ParameterizedTest
  @EnumSource(SaveMode.class)
  void appliesEverySaveModeToNewAndExistingStores(SaveMode mode) {
    Dataset<Row> ten = spark.range(10).toDF();
    Dataset<Row> three = spark.range(100, 103).toDF();
    ten.write().format("ddstore").mode(mode).save("m");
    assertSame(read("m"), ten);
    if (mode == SaveMode.ErrorIfExists) {
      assertThatThrownBy(() -> three.write().format("ddstore").mode(mode).save("m"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("store \"m\" already exists: drop it");
      assertSame(read("m"), ten);
      return;
    }
    three.write().format("ddstore").mode(mode).save("m");
    assertSame(
        read("m"),
        switch (mode) {
          case Append -> ten.union(three);
          case Overwrite -> three;
          default -> ten;
        });
  }

  @Test
  void failedOverwriteKeepsTheOldRows() {
    Dataset<Row> ten = spark.range(10).toDF();
    ten.write().format("ddstore").save("m");
    Dataset<Row> bad = spark.range(10).selectExpr("if(id = 7, null, id) as id");
    assertThatThrownBy(() -> bad.write().format("ddstore").mode("overwrite").save("m"))
        .hasStackTraceContaining("null");
    assertSame(read("m"), ten);
    spark.sparkContext().setLogLevel("WARN");
    try (LogTap log = LogTap.open()) {
      read("m").selectExpr("id + 1 as id").write().format("ddstore").mode("overwrite").save("m");
      spark.sql("insert into ddstore.m select id from ddstore.m where id = 10");
      assertThat(log.of(StoreLauncher.class, ResidentStore.class))
          .filteredOn(line -> line.startsWith("store \"m\" is written from its own rows"))
          .as("one warning for each write of a store into itself")
          .hasSize(2);
    } finally {
      spark.sparkContext().setLogLevel("OFF");
    }
    assertSame(read("m"), spark.range(1, 11).union(spark.range(10, 11)).toDF());
  }

  @Test
  void sqlCreatesFillsAndDropsStores() {
    numbers().createOrReplaceTempView("numbers");
    spark.sql("create table ddstore.t options (ranks 2, orderBy 'value') as select * from numbers");
    assertThat(DDStores.open(spark, "t").ranks()).isEqualTo(2);
    assertSame(spark.table("ddstore.t"), numbers());
    spark.sql("insert into ddstore.t select -1L, 2, 3.5f");
    assertThat(spark.sql("select * from ddstore.t where __index = " + ROWS).collectAsList())
        .hasToString("[[-1,2,3.5]]");
    spark.sql("insert overwrite ddstore.t select * from numbers where id < 10");
    assertThat(read("t").count()).isEqualTo(10);
    spark.sql("create or replace table ddstore.t as select 'text' as a");
    assertThat(read("t").collectAsList()).hasToString("[[text]]");
    spark.range(5).writeTo("ddstore.u").option("ranks", "1").createOrReplace();
    assertThat(spark.sql("show tables in ddstore").select("tableName").collectAsList())
        .hasToString("[[t], [u]]");
    assertThatThrownBy(() -> spark.sql("create table ddstore.t as select 1"))
        .isInstanceOf(AnalysisException.class)
        .hasMessageContaining("already exists");
    assertThatThrownBy(() -> spark.sql("create table ddstore.w (a int)"))
        .hasMessageContaining("a store is created from rows: use CREATE TABLE ddstore.w AS SELECT");
    spark.sql("drop table ddstore.t");
    spark.sql("drop table ddstore.u");
    assertThat(DDStores.list(spark)).isEmpty();
    assertThatThrownBy(() -> spark.table("ddstore.t")).isInstanceOf(AnalysisException.class);
  }

  @Test
  void tablesOfTheCatalogAreStores() {
    spark.sql("create table ddstore.a using ddstore as select 1 as id");
    spark.range(3).write().saveAsTable("ddstore.b"); // gives the session's provider by itself
    spark.range(3).write().format("ddstore").saveAsTable("ddstore.c");
    spark.sql("create table ddstore.d comment 'four' as select 1 as id");
    assertThat(DDStores.list(spark)).hasSize(4);
    assertThatThrownBy(() -> spark.sql("create table ddstore.e using orc as select 1 as id"))
        .hasMessageContaining(
            "tables of catalog \"ddstore\" are stores, not \"orc\": remove USING");
    String location = "a store is kept in executor memory, not at \"file:/x\": remove LOCATION";
    for (String where : List.of("location '/x'", "options (path '/x')")) {
      assertThatThrownBy(() -> spark.sql("create table ddstore.e " + where + " as select 1 as id"))
          .as(where)
          .hasMessageContaining(location);
      assertThatThrownBy(
              () -> spark.sql("create or replace table ddstore.a " + where + " as select 2 as id"))
          .as(where)
          .hasMessageContaining(location);
    }
    assertThatThrownBy(() -> spark.range(3).write().option("path", "/x").saveAsTable("ddstore.e"))
        .hasMessageContaining(location);
    assertThat(read("a").collectAsList()).hasToString("[[1]]");
    assertThat(DDStores.list(spark)).hasSize(4);
  }

  @Test
  void overwriteKeepsTheOptionsOfTheStore() {
    Dataset<Row> rows = spark.range(10).selectExpr("id", "array(id, -id) as v", "9 - id as place");
    Map<String, String> options =
        Map.of("ranks", "2", "width", "1", "orderBy", "place", "type.v", "int16[2]");
    rows.write().format("ddstore").options(options).save("o");
    String records = DDStores.open(spark, "o").schema().toString();
    rows.createOrReplaceTempView("rows");
    List<Runnable> overwrites =
        List.of(
            () -> spark.sql("insert overwrite ddstore.o select * from rows where id < 8"),
            () -> rows.where("id < 8").write().mode("overwrite").insertInto("ddstore.o"),
            () -> rows.where("id < 8").write().format("ddstore").mode("overwrite").save("o"));
    for (Runnable overwrite : overwrites) {
      ResidentStore before = DDStores.open(spark, "o");
      overwrite.run();
      ResidentStore after = DDStores.open(spark, "o");
      assertThat(before.isDropped()).isTrue();
      assertThat(List.of(after.ranks(), after.width(), after.rows())).isEqualTo(List.of(2, 1, 8L));
      assertThat(after.schema()).hasToString(records);
      assertThat(spark.sql("select id from ddstore.o order by __index").collectAsList())
          .hasToString("[[7], [6], [5], [4], [3], [2], [1], [0]]");
    }
    rows.write().format("ddstore").mode("overwrite").option("ranks", 3).save("o");
    ResidentStore ofItsOwn = DDStores.open(spark, "o");
    assertThat(List.of(ofItsOwn.ranks(), ofItsOwn.width())).isEqualTo(List.of(3, 3));
    assertThat(ofItsOwn.schema().toString()).isNotEqualTo(records);
    spark.range(5).write().format("ddstore").mode("overwrite").save("o");
    assertThat(DDStores.open(spark, "o").ranks()).as("other columns, all slots").isEqualTo(4);
    spark.sql("create or replace table ddstore.o options (ranks 2) as select 1L as id");
    spark.sql("create or replace table ddstore.o as select 1L as id");
    assertThat(DDStores.open(spark, "o").ranks()).as("made anew").isEqualTo(4);
    spark.range(20).writeTo("ddstore.o").option("ranks", "1").createOrReplace();
    spark.sql("insert overwrite ddstore.o select 2L");
    assertThat(DDStores.open(spark, "o").ranks()).as("of CREATE TABLE").isEqualTo(1);
  }

  /** They cannot be given again. */
  @Test
  void anOverwriteWithOptionsOfMissingColumnsIsRefused() {
    Dataset<Row> rows = spark.range(10).selectExpr("id", "9 - id as place");
    rows.createOrReplaceTempView("placed");
    rows.write().format("ddstore").option("columns", "id").option("orderBy", "place").save("h");
    assertThatThrownBy(() -> spark.sql("insert overwrite ddstore.h select id from placed"))
        .hasStackTraceContaining(
            "rows of columns [id] do not fit the options of \"h\": orderBy \"place\": no such column: choose one of [id], or add the column, or write the rows with separate options");
    assertThat(spark.sql("select id from ddstore.h").count()).isEqualTo(10);
    rows.select("id").write().format("ddstore").mode("overwrite").option("ranks", 1).save("h");
    assertThat(DDStores.open(spark, "h").ranks()).isEqualTo(1);
  }

  @Test
  void rejectsAnAppendWithoutTheOrderingColumn() {
    Dataset<Row> rows = spark.range(10).selectExpr("id", "9 - id as place");
    rows.write().format("ddstore").option("columns", "id").option("orderBy", "place").save("h");
    String message =
        "rows of columns [id] do not fit the options of \"h\": orderBy \"place\": no such column:"
            + " choose one of [id], or append rows that have the column";
    assertThatThrownBy(() -> DDStores.open(spark, "h").append(rows.select("id")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
    assertThatThrownBy(() -> spark.sql("insert into ddstore.h select 3L"))
        .hasStackTraceContaining(message);
    assertThat(DDStores.open(spark, "h").rows()).isEqualTo(10);
  }

  @Test
  void rejectedRowsAreReportedInTermsOfSql() {
    Dataset<Row> gaps = spark.range(10).selectExpr("if(id = 7, null, id) as n");
    assertThatThrownBy(() -> gaps.write().format("ddstore").option("ranks", 1).save("n"))
        .isInstanceOf(IngestException.class)
        .hasMessage(
            "column \"n\", row 7: null; put coalesce(n, ..) into the query or filter the rows");
    assertThatThrownBy(() -> spark.sql("create table ddstore.n as select array(array(1)) as m"))
        .hasStackTraceContaining("option \"type.m\" as \"int32[28,28]\"");
    assertThatThrownBy(() -> spark.sql("create table ddstore.n as select 1 as a, struct() as s"))
        .hasStackTraceContaining(
            "column \"s\": a struct without fields cannot be stored: drop it from the query, or"
                + " leave it out with option \"columns\"");
    assertThat(DDStores.list(spark)).isEmpty();
    // The rows of an append go by the options of the store, which nobody gives again.
    spark.range(3).selectExpr("id as n").write().format("ddstore").save("n");
    assertThatThrownBy(() -> DDStores.open(spark, "n").append(gaps))
        .isInstanceOf(IngestException.class)
        .hasMessageContaining("put coalesce(n, ..) into the query");
  }

  /** In an order that is none of its columns. */
  private Dataset<Row> unordered() {
    return spark
        .range(0, ROWS, 1, 3)
        .selectExpr("(id * 7919) % " + ROWS + " as place", "id % 7 as label", "id");
  }

  private List<Row> inOrderOfTheIndex(String store) {
    return spark
        .sql("select place, label, id from ddstore.%s order by __index".formatted(store))
        .collectAsList();
  }

  @Test
  void ordersRowsByTheColumnsOfAnOption() {
    unordered().write().format("ddstore").option("ranks", "3").option("orderBy", "place").save("o");
    assertThat(
            spark.sql("select place, __index from ddstore.o where place = __index").collectAsList())
        .hasSize(ROWS);
    unordered().write().format("ddstore").option("orderBy", "label, place").save("two");
    assertThat(inOrderOfTheIndex("two"))
        .isEqualTo(unordered().orderBy("label", "place").collectAsList());
    unordered().write().format("ddstore").save("none");
    assertThat(inOrderOfTheIndex("none")).isEqualTo(unordered().collectAsList());
  }

  @Test
  void aShuffledWriteEqualsALoadWithTheSameSeed() {
    unordered().write().format("ddstore").option("ranks", "3").option("shuffle", "42").save("s");
    ResidentStore same = DDStores.from(unordered()).ranks(2).shuffle(42).load("same");
    ResidentStore other = DDStores.from(unordered()).ranks(2).shuffle(43).load("other");
    assertThat(DDStores.open(spark, "s").digest())
        .isEqualTo(same.digest())
        .isNotEqualTo(other.digest());
    assertThat(inOrderOfTheIndex("s"))
        .isEqualTo(inOrderOfTheIndex("same"))
        .isNotEqualTo(unordered().collectAsList())
        .containsExactlyInAnyOrderElementsOf(unordered().collectAsList());
  }

  @Test
  void dropOfAMissingStoreIsRefused() {
    spark.sql("drop table if exists ddstore.none");
    assertThatThrownBy(() -> spark.sql("drop table ddstore.none"))
        .isInstanceOf(AnalysisException.class)
        .hasMessageContaining("none");
    assertThatThrownBy(() -> spark.sql("insert into ddstore.none select 1"))
        .isInstanceOf(AnalysisException.class)
        .hasMessageContaining("none");
    spark.range(3).write().format("ddstore").save("there");
    spark.sql("drop table if exists ddstore.there");
    assertThat(DDStores.list(spark)).isEmpty();
  }

  /**
   * Two write a name at once, each its own 100 rows.
   *
   * @return how each of them failed, if it did
   */
  private List<Optional<Throwable>> writeConcurrently(SaveMode mode) throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    List<CompletableFuture<Optional<Throwable>>> both = new ArrayList<>();
    for (int writer = 1; writer <= 2; writer++) {
      long first = writer * 1000L;
      both.add(
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  together.await(1, TimeUnit.MINUTES);
                  spark
                      .range(first, first + 100)
                      .write()
                      .format("ddstore")
                      .mode(mode)
                      .options(mode == SaveMode.Append ? Map.of() : Map.of("ranks", "2"))
                      .save("both");
                  return Optional.<Throwable>empty();
                } catch (Exception e) {
                  return Optional.of(e);
                }
              }));
    }
    writers.addAll(both);
    List<Optional<Throwable>> failures = new ArrayList<>();
    for (CompletableFuture<Optional<Throwable>> writer : both) {
      failures.add(writer.get(2, TimeUnit.MINUTES));
    }
    return failures;
  }

  /** The second one waits, and then acts on the store that the first one has made. */
  @Test
  void theSecondOfTwoWritersFindsTheStoreOfTheFirst() throws Exception {
    theSecondOfTwoWritersFindsTheStoreOfTheFirst(SaveMode.ErrorIfExists);
  }

  @ParameterizedTest
  @Tag("slow")
  @EnumSource(
      value = SaveMode.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"ErrorIfExists"})
  void theSecondOfTwoWritersFindsTheStoreInOtherModes(SaveMode mode) throws Exception {
    theSecondOfTwoWritersFindsTheStoreOfTheFirst(mode);
  }

  private void theSecondOfTwoWritersFindsTheStoreOfTheFirst(SaveMode mode) throws Exception {
    List<Optional<Throwable>> failures = writeConcurrently(mode);
    List<Long> ids =
        read("both").orderBy("id").collectAsList().stream().map(row -> row.getLong(0)).toList();
    assertThat(ids)
        .hasSize(mode == SaveMode.Append ? 200 : 100)
        .isSubsetOf(spark.range(1000, 2100).collectAsList());
    if (mode == SaveMode.ErrorIfExists) {
      int winner = (int) (ids.get(0) / 1000) - 1;
      assertThat(failures.get(winner)).as("the one whose rows are there").isEmpty();
      assertThat(failures.get(1 - winner))
          .get(InstanceOfAssertFactories.THROWABLE)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("store \"both\" already exists");
    } else {
      assertThat(failures).containsOnly(Optional.empty());
    }
  }

  /** Another thread writes the store, until the gate is opened. */
  private CompletableFuture<Void> writing(String store, CountDownLatch gate) throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () ->
                DDStores.writing(
                    spark,
                    store,
                    () -> {
                      inside.countDown();
                      try {
                        assertThat(gate.await(2, TimeUnit.MINUTES)).isTrue();
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                      if (DDStores.list(spark).isEmpty()) {
                        spark.range(10).write().format("ddstore").save(store);
                      }
                    }));
    writers.add(writer);
    assertThat(inside.await(1, TimeUnit.MINUTES)).isTrue();
    return writer;
  }

  private static void awaitWaiting(Thread thread) {
    await("thread waits for the other writer")
        .atMost(1, TimeUnit.MINUTES)
        .until(
            () ->
                Arrays.stream(thread.getStackTrace())
                    .anyMatch(
                        frame ->
                            frame.getClassName().equals(WriteLock.class.getName())
                                && frame.getMethodName().equals("enter")));
  }

  private Thread start(Runnable action, CompletableFuture<Throwable> failure) {
    Thread thread =
        new Thread(() -> failure.complete(catchThrowable(action::run)), "second writer");
    threads.add(thread);
    thread.start();
    return thread;
  }

  @Test
  void createIfNotExistsUsesTheStoreOfAConcurrentWriter() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    CompletableFuture<Void> first = writing("both", gate);
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    try {
      awaitWaiting(
          start(
              () -> spark.sql("create table if not exists ddstore.both as select 1L as id"),
              failure));
    } finally {
      gate.countDown();
    }
    assertThat(failure.get(2, TimeUnit.MINUTES)).isNull();
    first.get(2, TimeUnit.MINUTES);
    assertThat(read("both").count()).isEqualTo(10);
  }

  @Test
  void interruptEndsAnAppendThatWaitsForAnotherWriter() throws Exception {
    spark.range(10).write().format("ddstore").save("both");
    ResidentStore store = DDStores.open(spark, "both");
    CountDownLatch gate = new CountDownLatch(1);
    CompletableFuture<Void> first = writing("both", gate);
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    try {
      Thread second = start(() -> store.append(spark.range(5).toDF()), failure);
      awaitWaiting(second);
      second.interrupt();
      assertThat(failure.get(1, TimeUnit.MINUTES))
          .isInstanceOf(DDStoreException.class)
          .hasMessageContaining("interrupted while")
          .hasMessageContaining("nothing was written");
      assertThat(first).isNotDone();
    } finally {
      gate.countDown();
    }
    first.get(2, TimeUnit.MINUTES);
    assertThat(store.rows()).isEqualTo(10);
  }

  @Test
  void rowsInsertedDuringAnOverwriteAreKept(@TempDir Path notes) throws Exception {
    rowsInsertedDuringAnOverwriteAreKept("insert overwrite", notes);
  }

  /** By the format, and by the class of a store. */
  @ParameterizedTest
  @Tag("slow")
  @ValueSource(strings = {"mode overwrite", "replace"})
  void rowsInsertedDuringOtherOverwritesAreKept(String way, @TempDir Path notes) throws Exception {
    rowsInsertedDuringAnOverwriteAreKept(way, notes);
  }

  private void rowsInsertedDuringAnOverwriteAreKept(String way, Path notes) throws Exception {
    spark.range(1_000).write().format("ddstore").option("ranks", 2).save("t");
    Evidence evidence = new Evidence(notes);
    UDF1<Long, Long> gate =
        id -> {
          if (!evidence.has("open")) {
            evidence.note("inside", "");
            evidence.awaitNote("open");
          }
          return id;
        };
    Dataset<Row> same =
        spark
            .table("ddstore.t")
            .select(functions.udf(gate, DataTypes.LongType).apply(functions.col("id")).as("id"));
    same.createOrReplaceTempView("same");
    CompletableFuture<Void> overwrite =
        CompletableFuture.runAsync(
            () -> {
              switch (way) {
                case "insert overwrite" ->
                    spark.sql("insert overwrite ddstore.t select * from same");
                case "mode overwrite" -> same.write().format("ddstore").mode("overwrite").save("t");
                default -> DDStores.open(spark, "t").replace(same);
              }
            });
    writers.add(overwrite);
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    try {
      await("the overwrite reads its rows")
          .atMost(1, TimeUnit.MINUTES)
          .until(() -> evidence.has("inside"));
      Thread insert =
          start(() -> spark.sql("insert into ddstore.t select id from range(1000, 1500)"), failure);
      await("the insert waits or ends")
          .atMost(1, TimeUnit.MINUTES)
          .until(() -> failure.isDone() || insert.getState() == Thread.State.TIMED_WAITING);
    } finally {
      evidence.note("open", "");
    }
    overwrite.get(2, TimeUnit.MINUTES);
    assertThat(failure.get(2, TimeUnit.MINUTES)).isNull();
    assertThat(spark.sql("select count(distinct id), max(id) from ddstore.t").collectAsList())
        .hasToString("[[1500,1499]]");
  }

  @Test
  void rejectsAnOverwriteWithStaleCachedRows() {
    spark.range(10).write().format("ddstore").option("ranks", 2).save("t");
    ResidentStore store = DDStores.open(spark, "t");
    Dataset<Row> cached = read("t").where("id >= 0").cache();
    try {
      assertThat(cached.count()).isEqualTo(10);
      store.append(spark.range(10, 15).toDF());
      assertThatThrownBy(() -> cached.write().format("ddstore").mode("overwrite").save("t"))
          .isInstanceOf(StoreChangedException.class)
          .hasMessageContaining("store \"t\" was written after Spark cached the rows")
          .hasMessageContaining("15 rows now");
      assertThat(DDStores.open(spark, "t").rows()).isEqualTo(15);
      cached.unpersist(true);
      cached.write().format("ddstore").mode("overwrite").save("t");
      assertThat(DDStores.open(spark, "t").rows()).isEqualTo(15);
    } finally {
      cached.unpersist(true);
    }
  }

  @Test
  void rowsOfTwoConcurrentAppendsFollowEachOther() throws Exception {
    spark.range(10).write().format("ddstore").option("ranks", "2").save("both");
    assertThat(writeConcurrently(SaveMode.Append)).containsOnly(Optional.empty());
    List<Long> ids =
        spark.sql("select id from ddstore.both order by __index").collectAsList().stream()
            .map(row -> row.getLong(0))
            .toList();
    assertThat(ids).hasSize(210).startsWith(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    for (int block = 10; block < 210; block += 100) {
      long first = ids.get(block);
      for (int i = 0; i < 100; i++) {
        assertThat(ids.get(block + i)).isEqualTo(first + i);
      }
    }
    assertThat(ids.get(10) + ids.get(110)).isEqualTo(3000);
  }

  @Test
  void oneRowIsWrittenByFourRanks() {
    rowsAreWrittenByFourRanks(1);
  }

  @ParameterizedTest
  @Tag("slow")
  @ValueSource(ints = {0, 3})
  void rowsAreWrittenByFourRanks(int rows) {
    Dataset<Row> source = EveryType.frame(spark, rows);
    source
        .write()
        .format("ddstore")
        .option("ranks", "4")
        .options(EveryType.writeOptions())
        .save("few");
    assertThat(read("few").schema()).isEqualTo(source.schema());
    assertSame(read("few"), source);
    assertThat(read("few").count()).isEqualTo(rows);
    assertThat(spark.sql("select id from ddstore.few where __index >= 1").collectAsList())
        .hasSize(Math.max(0, rows - 1));
    numbers().limit(rows).write().format("ddstore").option("ranks", "4").save("growing");
    spark.sql("insert into ddstore.growing select * from ddstore.growing where false");
    spark.sql("insert into ddstore.growing select -1L, 2, 3.5f");
    assertThat(
            spark
                .sql("select id, label, value from ddstore.growing where __index = " + rows)
                .collectAsList())
        .hasToString("[[-1,2,3.5]]");
  }

  @Test
  void rowsAreKeptInFiles(@TempDir Path directory) throws IOException {
    numbers()
        .write()
        .format("ddstore")
        .options(Map.of("backing", "file", "directory", directory.toString(), "ranks", "2"))
        .save("files");
    assertThat(filesIn(directory)).hasSizeGreaterThanOrEqualTo(2);
    assertSame(read("files"), numbers());
    spark.sql("drop table ddstore.files");
    assertThat(filesIn(directory)).isEmpty();
    assertThatThrownBy(
            () -> numbers().write().format("ddstore").option("backing", "file").save("nowhere"))
        .hasMessageContaining("spark.ddstore.backing=file, but no directory is set");
  }

  private static List<Path> filesIn(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile)
          .filter(file -> !file.getFileName().toString().contains("lock"))
          .toList();
    }
  }

  @Test
  void columnNamesWithSpecialCharactersAreKept() {
    Dataset<Row> source =
        spark
            .range(100)
            .selectExpr(
                "id as `a.b`",
                "id + 1 as `two words`",
                "id + 2 as `größe 𝄞`",
                "id + 3 as `tick``s`",
                "id + 4 as `select`",
                "named_struct('x.y', id, 'in ner', concat('t', id)) as `s t`");
    source
        .write()
        .format("ddstore")
        .option("ranks", "2")
        .option("type.Größe 𝄞", "int16")
        .option("type.a.b", "int32")
        .save("names");
    assertThat(read("names").schema()).isEqualTo(source.schema());
    assertSame(read("names"), source);
    assertThat(
            spark
                .sql(
                    "select `s t`.`x.y`, `a.b`, `größe 𝄞`, `tick``s` from ddstore.names where `two"
                        + " words` = 7 and __index > 2")
                .collectAsList())
        .hasToString("[[6,6,8,9]]");
    assertThatThrownBy(
            () ->
                spark
                    .range(3)
                    .selectExpr("id as `a.b`", "named_struct('b', id) as a")
                    .write()
                    .format("ddstore")
                    .save("twice"))
        .hasMessageContaining("two columns have this name")
        .hasMessageContaining("a.b");
  }

  @Test
  void namesThatDifferByCaseAreKeptIfSparkIsCaseSensitive() {
    spark.conf().set("spark.sql.caseSensitive", "true");
    try {
      Dataset<Row> source = spark.range(10).selectExpr("id", "-id as ID", "id + 5 as __INDEX");
      source.write().format("ddstore").option("ranks", "2").save("cases");
      assertSame(read("cases"), source);
      assertThat(
              spark
                  .sql("select ID, id, __INDEX from ddstore.cases where __index = 3")
                  .collectAsList())
          .hasToString("[[-3,3,8]]");
    } finally {
      spark.conf().unset("spark.sql.caseSensitive");
    }
  }

  @Test
  void columnOfTheSameNameHidesTheIndex() {
    spark.range(10).selectExpr("id", "9 - id as __index").write().format("ddstore").save("own");
    assertThat(spark.sql("select id from ddstore.own where __index = 2").collectAsList())
        .hasToString("[[7]]");
    assertThat(
            spark
                .read()
                .format("ddstore")
                .option("indexColumn", "place")
                .load("own")
                .where("place = 2")
                .select("id", "__index", "place")
                .collectAsList())
        .hasToString("[[2,7,2]]");
  }

  @Test
  void appliesWidthAndTransportToTheStore() {
    Dataset<Row> rows = spark.range(10).toDF();
    rows.write()
        .format("ddstore")
        .option("ranks", 2)
        .option("width", 1)
        .option("transport", "tcp")
        .save("copies");
    ResidentStore copies = DDStores.open(spark, "copies");
    assertThat(copies.width()).isEqualTo(1);
    assertThat(copies.shards()).hasSize(2).allMatch(shard -> shard.rows() == 10);
    assertThat(copies.handle().snapshot().settings().transport()).isEqualTo("tcp");
    assertThat(copies.explain()).contains("transport: tcp");
    rows.write().format("ddstore").option("ranks", 2).save("plain");
    ResidentStore plain = DDStores.open(spark, "plain");
    assertThat(plain.width()).isEqualTo(2);
    assertThat(plain.shards()).hasSize(2).allMatch(shard -> shard.rows() == 5);
    assertThat(plain.handle().snapshot().settings().transport()).isEqualTo("auto");
    assertThatThrownBy(
            () -> rows.write().format("ddstore").option("transport", "pigeon").save("other"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pigeon");
  }

  @Test
  void roundTripsWideRows() {
    List<String> columns =
        new ArrayList<>(
            List.of("id", "cast(repeat(chr(int(65 + id)), 3000000) as binary) as large"));
    IntStream.range(0, 600)
        .forEach(i -> columns.add("cast(id * %1$d as int) as c%1$d".formatted(i)));
    Dataset<Row> source = spark.range(6).selectExpr(columns.toArray(new String[0]));
    source.write().format("ddstore").option("ranks", "2").save("wide");
    // exceptAll over 600 columns takes Spark half a minute.
    assertThat(read("wide").collectAsList())
        .containsExactlyInAnyOrderElementsOf(source.collectAsList());
    assertThat(
            spark
                .sql("select c599, length(large) from ddstore.wide where __index = 5")
                .collectAsList())
        .hasToString("[[2995,3000000]]");
  }

  @Test
  void rejectsNullsButKeepsNullableColumns() {
    StructType schema =
        (StructType) DataType.fromDDL("a int, s struct<b: string not null>, v array<int>");
    Dataset<Row> rows =
        spark
            .range(20)
            .selectExpr(
                "int(id) as a", "named_struct('b', string(id)) as s", "array(1, int(id)) as v");
    Dataset<Row> nullable = spark.createDataFrame(rows.toJavaRDD(), schema);
    nullable.write().format("ddstore").option("ranks", "2").save("nullable");
    assertThat(read("nullable").schema()).isEqualTo(schema);
    assertSame(read("nullable"), nullable);
    for (String bad :
        List.of(
            "if(id = 7, null, id) as a",
            "if(id = 7, null, string(id)) as a",
            "array(1, if(id = 7, null, int(id))) as a")) {
      assertThatThrownBy(
              () -> spark.range(20).selectExpr("id", bad).write().format("ddstore").save("bad"))
          .as(bad)
          .hasMessageContaining("null")
          .hasMessageContaining("\"a\"")
          .hasMessageContaining("7");
    }
  }
}
