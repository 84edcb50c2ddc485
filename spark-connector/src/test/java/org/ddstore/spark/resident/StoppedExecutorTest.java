// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.contract.Stopped;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.OnResidentCluster;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.DeadlineExceededException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An executor that SIGSTOP holds, as one is that hangs or whose host cannot be reached: its
 * connections stay, and nothing comes over them. Two executors of 2 slots.
 */
@Tag("system")
@Timeout(300)
@Tag("always")
class StoppedExecutorTest extends OnResidentCluster {
  private static final int MORE = 30;
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(20);

  private static StoreSpec numbers() {
    return DDStores.from(numberedRows()).ranks(4).shortcut(false).readTimeout(READ_TIMEOUT);
  }

  private static void checkAll(StoreReader store) {
    checkNumbered(store.rows(), ROWS);
  }

  /** The process of the executor that holds the first shard of the rows, of the first group. */
  private static ProcessHandle holder(ResidentStore store) {
    long pid = cluster.pids().get(store.shards().get(0).executorId());
    return ProcessHandle.of(pid).orElseThrow();
  }

  private static long requestsTo(ResidentStore store, String executor) {
    return refreshed(store).stream()
        .filter(of -> of.executorId().equals(executor))
        .mapToLong(ExecutorStatistics::servedRequests)
        .sum();
  }

  /** Both readers wait for the same stopped executor, at the same time. */
  @Test
  @Timeout(120) // half of the read timeout
  void readersSwitchToAnotherCopyAndBack() throws Exception {
    ResidentStore store = numbers().width(2).readTimeout(Duration.ofMinutes(4)).load("copies");
    ProcessHandle holder = holder(store);
    StoreHandle handle = store.handle();
    String silent = store.shards().get(0).executorId();
    String other =
        store.shards().stream()
            .map(ResidentShard::executorId)
            .filter(executor -> !executor.equals(silent))
            .findFirst()
            .orElseThrow();
    try (StoreReader before = handle.attach()) {
      checkAll(before);
      long requestsToOther = requestsTo(store, other);
      List<ExecutorStatistics> last = refreshed(store);
      try (Stopped stopped = Stopped.stop(holder)) {
        CompletableFuture<Void> attached =
            CompletableFuture.runAsync(
                () -> {
                  try (StoreReader late = handle.attach()) {
                    checkAll(late);
                  }
                });
        checkAll(before);
        checkAll(before);
        attached.get(1, TimeUnit.MINUTES);
        assertThat(requestsTo(store, other)).as("served by a copy").isGreaterThan(requestsToOther);
        assertThat(refreshed(store))
            .as("reports that have not changed during %s", stopped)
            .filteredOn(now -> !now.ranks().isEmpty())
            .filteredOn(now -> last.stream().anyMatch(old -> old.answeredMs() == now.answeredMs()))
            .extracting(ExecutorStatistics::executorId)
            .containsExactly(silent);
        assertThat(store.shards()).as("nothing is lost").noneMatch(ResidentShard::isLost);
      }
      long[] requests = {requestsTo(store, silent), 0}; // to it, and successive reads from it
      await("reads of the executor that goes on, beyond the requests that it has missed")
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                checkAll(before);
                long now = requestsTo(store, silent);
                requests[1] = now > requests[0] ? requests[1] + 1 : 0;
                requests[0] = now;
                return requests[1] == 3;
              });
    }
    assertThat(store.shards()).as("nothing is lost").noneMatch(ResidentShard::isLost);
  }

  /** It stops when its rows are loaded, and goes on before Spark gives it up. */
  @Test
  @Tag("slow")
  void appendWaitsForTheConfirmationOfAStoppedExecutor() throws Exception {
    ResidentStore store = numbers().load("train");
    ProcessHandle holder = holder(store);
    Evidence evidence = new Evidence(directory);
    UDF1<Long, Long> gate =
        id -> {
          evidence.note("inside", "");
          evidence.awaitNote("open");
          return id;
        };
    Dataset<Row> more =
        cluster
            .session()
            .range(ROWS, ROWS + MORE, 1, 3)
            .select(functions.udf(gate, DataTypes.LongType).apply(functions.col("id")).as("id"))
            .selectExpr("id", "array(float(id), float(-id)) as x", "concat('t', id) as t");
    CompletableFuture<Void> append = CompletableFuture.runAsync(() -> store.append(more));
    evidence.awaitNote("inside");
    SparkContext context = cluster.session().sparkContext();
    Stopped stopped;
    synchronized (context.listenerBus()) { // the append waits for it before it confirms
      evidence.note("open", "");
      await("the rows are loaded")
          .atMost(Duration.ofMinutes(1))
          .until(() -> context.statusTracker().getActiveJobIds().length == 0);
      stopped = Stopped.stop(holder);
    }
    try (stopped) {
      long startNs = System.nanoTime();
      await("a stop of 35 s")
          .atMost(Duration.ofMinutes(1))
          .until(() -> System.nanoTime() - startNs > Duration.ofSeconds(35).toNanos());
      assertThat(append).as("the append").isNotDone();
    }
    append.get(1, TimeUnit.MINUTES);
    assertThat(store.rows()).isEqualTo(ROWS + MORE);
    assertThat(store.shards()).as("nothing is lost").noneMatch(ResidentShard::isLost);
  }

  @Test
  void readTimesOutOnSilentCopiesAndRecovers() throws Exception {
    ResidentStore store = numbers().width(2).readTimeout(Duration.ofSeconds(10)).load("copies");
    List<ProcessHandle> all =
        cluster.executors().stream().map(pid -> ProcessHandle.of(pid).orElseThrow()).toList();
    assertThat(all).hasSize(2);
    try (StoreReader reader = store.handle().attach()) {
      checkAll(reader);
      try (Stopped first = Stopped.stop(all.get(0));
          Stopped second = Stopped.stop(all.get(1))) {
        assertThatThrownBy(() -> checkAll(reader))
            .as("%s and %s", first, second)
            .isInstanceOf(DeadlineExceededException.class)
            .hasMessageContaining("remote rows not received within");
      }
      checkAll(reader);
    }
  }
}
