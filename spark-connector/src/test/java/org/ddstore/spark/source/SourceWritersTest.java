// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

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
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.resident.WriteLock;
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

/** Stores that several threads write at once, on two executors with two slots each. */
@Tag("system")
@Timeout(300)
class SourceWritersTest extends SourceOnCluster {
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

  @ParameterizedTest
  @Tag("slow")
  @EnumSource(
      value = SaveMode.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"ErrorIfExists"})
  void theSecondOfTwoWritersFindsTheStoreInOtherModes(SaveMode mode) throws Exception {
    theSecondOfTwoWritersFindsTheStoreOfTheFirst(mode);
  }

  @Test
  @Tag("slow")
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

  /** By the format, and by the class of a store. */
  @ParameterizedTest
  @Tag("slow")
  @ValueSource(strings = {"mode overwrite", "replace"})
  void rowsInsertedDuringOtherOverwritesAreKept(String way, @TempDir Path notes) throws Exception {
    rowsInsertedDuringAnOverwriteAreKept(way, notes);
  }
}
