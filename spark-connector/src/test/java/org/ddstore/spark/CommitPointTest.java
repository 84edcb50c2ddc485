// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.job.Plans;
import org.ddstore.spark.resident.ResidentShards;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Changes of resident stores whose driver pauses, or whose thread is interrupted: before the commit
 * point nothing of them stays, after it they are whole. Driver and ranks are one JVM.
 */
@Timeout(180)
class CommitPointTest {
  private static final int ROWS = 100;
  private static final int MORE = 30;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Reached by the first row of {@link #gated}, if there is one. */
  private static final AtomicReference<CountDownLatch> INSIDE = new AtomicReference<>();

  private static final AtomicReference<CountDownLatch> OPEN = new AtomicReference<>();

  private static SparkSession session;

  @BeforeAll
  static void start() {
    TestCluster.stopOthers();
    session =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/warehouse")
            .getOrCreate();
    session.sparkContext().setLogLevel("OFF");
  }

  @AfterAll
  static void stop() {
    session.stop();
    assertThatThrownBy(() -> DDStores.restore(session, "/dumps/train"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot use /dumps/train for a dump")
        .hasMessageContaining("has ended; use a running session");
  }

  @BeforeEach
  void close() {
    INSIDE.set(new CountDownLatch(1));
    OPEN.set(new CountDownLatch(1));
  }

  @AfterEach
  void assertNothingLeft() {
    OPEN.get().countDown();
    Thread.interrupted();
    DDStores.list(session).forEach(ResidentStore::drop);
    await("nothing is held")
        .atMost(PATIENCE)
        .untilAsserted(() -> Leftovers.ofThisProcess().withoutNetwork().assertNone());
    assertThat(session.sparkContext().persistentRdds().isEmpty()).as("no stored rows").isTrue();
  }

  private static Dataset<Row> rows(long from, long to) {
    return session.range(from, to, 1, 2).toDF();
  }

  /** Rows that do not come before the gate is open. */
  private static Dataset<Row> gated(long from, long to) {
    UDF1<Long, Long> gate =
        id -> {
          INSIDE.get().countDown();
          assertThat(OPEN.get().await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
          return id;
        };
    return rows(from, to)
        .select(functions.udf(gate, DataTypes.LongType).apply(functions.col("id")).as("id"));
  }

  private static void checkAll(ResidentStore store, int count) {
    assertThat(store.rows()).isEqualTo(count);
    assertThat(store.shards()).noneMatch(ResidentShard::isLost);
    long[] indices = new long[count];
    Arrays.setAll(indices, i -> i);
    try (StoreReader attached = store.handle().attach();
        Reader reader = attached.rows().reader();
        Batch batch = reader.getBatch(indices)) {
      for (int i = 0; i < count; i++) {
        assertThat(batch.field("id").getLong(i)).isEqualTo(i);
      }
    }
  }

  /**
   * Holds the driver's thread between the end of a load and its confirmation: there it takes the
   * lock of the listener bus.
   */
  private static void whileDriverPauses(Runnable action) throws InterruptedException {
    assertThat(INSIDE.get().await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    synchronized (session.sparkContext().listenerBus()) {
      OPEN.get().countDown();
      await("the load has ended")
          .atMost(PATIENCE)
          .until(() -> session.sparkContext().statusTracker().getActiveJobIds().length == 0);
      action.run();
    }
  }

  @Test
  void lateConfirmationReloadsTheRows() throws Exception {
    ResidentStore store = DDStores.from(rows(0, ROWS)).ranks(2).load("train");
    Nonce id = store.handle().snapshot().token().id();
    CompletableFuture<Void> append =
        CompletableFuture.runAsync(() -> store.append(gated(ROWS, ROWS + MORE)));
    whileDriverPauses(() -> endLeases(id));
    append.get(1, TimeUnit.MINUTES);
    checkAll(store, ROWS + MORE);
  }

  private static void endLeases(Nonce store) {
    ResidentShards.forgetOthers(store, Nonce.random());
  }

  @Test
  void lateConfirmationInTheOnlyAttemptKeepsTheStore() throws Exception {
    ResidentStore store = DDStores.from(rows(0, ROWS)).ranks(2).maxAttempts(1).load("train");
    Nonce id = store.handle().snapshot().token().id();
    CompletableFuture<Void> append =
        CompletableFuture.runAsync(() -> store.append(gated(ROWS, ROWS + MORE)));
    whileDriverPauses(() -> endLeases(id));
    assertThatThrownBy(() -> append.get(1, TimeUnit.MINUTES))
        .hasCauseInstanceOf(DDStoreException.class)
        .hasMessageContaining("were not confirmed within 60 s");
    checkAll(store, ROWS);
    store.append(rows(ROWS, ROWS + MORE));
    checkAll(store, ROWS + MORE);
  }

  @Test
  void interruptBeforeTheConfirmationKeepsTheStore() throws Exception {
    ResidentStore store = DDStores.from(rows(0, ROWS)).ranks(2).load("train");
    Interrupted append = Interrupted.start(() -> store.append(gated(ROWS, ROWS + MORE)));
    whileDriverPauses(append.thread::interrupt);
    assertThat(append.failure()).isInstanceOf(DDStoreException.class);
    assertThat(append.flag()).as("the interrupt flag").isTrue();
    checkAll(store, ROWS);
  }

  @Test
  void interruptBeforeTheConfirmationOfALoadLeavesNothing() throws Exception {
    Interrupted load =
        Interrupted.start(() -> DDStores.from(gated(0, ROWS)).ranks(2).load("train"));
    whileDriverPauses(load.thread::interrupt);
    assertThat(load.failure()).isInstanceOf(DDStoreException.class);
    assertThat(load.flag()).as("the interrupt flag").isTrue();
    assertThat(DDStores.list(session)).isEmpty();
  }

  /** The interrupt meets the clean-up or comes after it; both have to be without effect. */
  @Test
  void interruptAfterTheCommitOfAnAppendHasNoEffect() throws Exception {
    ResidentStore store = DDStores.from(rows(0, ROWS)).ranks(2).orderBy("id").load("train");
    for (int round = 1; round <= 2; round++) {
      int before = ROWS + (round - 1) * MORE;
      Interrupted append = Interrupted.start(() -> store.append(rows(before, before + MORE)));
      while (store.rows() == before && append.thread.isAlive()) {
        Thread.onSpinWait();
      }
      append.thread.interrupt();
      assertThat(append.failure()).isNull();
      checkAll(store, before + MORE);
    }
  }

  @Test
  void interruptedThreadReleasesTheStoredRowsOfAPlan() {
    Plans plans =
        new Plans(
            session.sparkContext(),
            Settings.of(session),
            () -> IngestPlan.of(rows(0, ROWS), IngestOptions.defaults().orderBy("id"), 2));
    assertThat(session.sparkContext().persistentRdds().isEmpty()).isFalse();
    Thread.currentThread().interrupt();
    plans.close();
    assertThat(Thread.interrupted()).as("the interrupt flag").isTrue();
    assertThat(session.sparkContext().persistentRdds().isEmpty()).isTrue();
  }

  /** A change in a thread of its own, and how it has ended. */
  private static final class Interrupted {
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final CompletableFuture<Boolean> flag = new CompletableFuture<>();
    private final Thread thread;

    private Interrupted(Runnable change) {
      thread =
          new Thread(
              () -> {
                try {
                  change.run();
                } catch (Throwable e) {
                  failure.set(e);
                } finally {
                  flag.complete(Thread.currentThread().isInterrupted());
                }
              },
              "change");
    }

    static Interrupted start(Runnable change) {
      Interrupted started = new Interrupted(change);
      started.thread.start();
      return started;
    }

    Throwable failure() throws Exception {
      flag.get(1, TimeUnit.MINUTES);
      return failure.get();
    }

    boolean flag() throws Exception {
      return flag.get(1, TimeUnit.MINUTES);
    }
  }
}
