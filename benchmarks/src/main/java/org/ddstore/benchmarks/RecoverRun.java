// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.DDStoreException;

/** The faults of {@link RecoverBench}, one a call, on executors that it kills and stops. */
final class RecoverRun {
  private static final int RANKS = 4;
  private static final long ROWS_IN_COPIES = 100_000;
  private static final Duration BEFORE = Duration.ofMillis(300);
  private static final Duration AFTER_KILL = Duration.ofSeconds(2);
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final long POLL_MS = 20;

  private final EmbeddedSpark spark;
  private final int readers;
  private final List<RecoverBench.Sample> samples;
  private long seed;
  private long mismatches;
  private ResidentStore copies; // null before the first fault with copies

  RecoverRun(EmbeddedSpark spark, int readers, long seed, List<RecoverBench.Sample> samples) {
    this.spark = spark;
    this.readers = readers;
    this.seed = seed;
    this.samples = samples;
  }

  long mismatches() {
    return mismatches;
  }

  private static Dataset<Row> rows(EmbeddedSpark spark, long count) {
    return spark.session().range(count).selectExpr("id", "array_repeat(float(id), 32) as x");
  }

  private void sample(String what, String unit, double value) {
    samples.add(new RecoverBench.Sample(what, unit, value));
  }

  private ResidentStore withCopies() {
    if (copies == null) {
      copies =
          DDStores.from(rows(spark, ROWS_IN_COPIES))
              .ranks(RANKS)
              .width(RANKS / 2)
              .shortcut(false)
              .load("copies");
    }
    return copies;
  }

  /** Kills the executor that readers read from, and restores the copies. */
  void killWithCopies() throws InterruptedException {
    ResidentStore store = withCopies();
    ResidentShard shard = served(store);
    ProcessHandle process = process(store, shard);
    try (RecoverReaders reading = RecoverReaders.start(store, 0, store.rows(), readers, seed++)) {
      Thread.sleep(BEFORE.toMillis());
      reading.longestPausesMillis();
      process.destroyForcibly();
      Thread.sleep(AFTER_KILL.toMillis());
      reading
          .longestPausesMillis()
          .forEach(pause -> sample("kill with copies: longest pause of a reader", "ms", pause));
      mismatches += reading.mismatches();
    }
    awaitLost(store);
    store.repair();
  }

  /** Stops the executor that readers read from for a while. */
  void stopWithCopies(int seconds) throws IOException, InterruptedException {
    ResidentStore store = withCopies();
    ResidentShard shard = served(store);
    ProcessHandle process = process(store, shard);
    try (RecoverReaders reading = RecoverReaders.start(store, 0, store.rows(), readers, seed++)) {
      Thread.sleep(BEFORE.toMillis());
      reading.longestPausesMillis();
      signal("STOP", process);
      try {
        Thread.sleep(TimeUnit.SECONDS.toMillis(seconds));
      } finally {
        signal("CONT", process);
      }
      reading
          .longestPausesMillis()
          .forEach(pause -> sample("stop with copies: longest pause of a reader", "ms", pause));
      long goesOnNs = System.nanoTime();
      long served = servedBy(store, shard);
      await("reads of " + shard, () -> servedBy(store, shard) > served + 2L * readers);
      sample("stop with copies: until the executor is used again", "ms", millisSince(goesOnNs));
      reading
          .longestPausesMillis()
          .forEach(pause -> sample("after a stop: longest pause of a reader", "ms", pause));
      mismatches += reading.mismatches();
    }
    if (store.shards().stream().anyMatch(ResidentShard::isLost)) {
      throw new DDStoreException("a stop of %d s lost shards: %s".formatted(seconds, store));
    }
  }

  /** Loads rows, kills the executor of some, and loads them again while others are read. */
  void killWithoutCopies(long count) throws InterruptedException {
    long startNs = System.nanoTime();
    ResidentStore store =
        DDStores.from(rows(spark, count)).ranks(RANKS).shortcut(false).load("single");
    double loadMillis = millisSince(startNs);
    ResidentShard lost = served(store);
    List<ResidentShard> kept =
        store.shards().stream()
            .filter(shard -> !shard.executorId().equals(lost.executorId()))
            .toList();
    long lostRows = count - kept.stream().mapToLong(ResidentShard::rows).sum();
    ProcessHandle process = process(store, lost);
    ResidentShard read = kept.get(0);
    try (RecoverReaders reading =
        RecoverReaders.start(store, read.firstRow(), read.rows(), readers, seed++)) {
      long killNs = System.nanoTime();
      process.destroyForcibly();
      awaitLost(store);
      sample("kill without copies: until the loss is known", "ms", millisSince(killNs));
      await("a new executor", () -> executors() == 2);
      sample("kill without copies: until an executor replaces it", "ms", millisSince(killNs));
      reading.longestPausesMillis();
      long batches = reading.batches();
      long repairNs = System.nanoTime();
      store.repair();
      double repairMillis = millisSince(repairNs);
      sample("kill without copies: first load", "ms", loadMillis);
      sample("kill without copies: load of the lost rows", "ms", repairMillis);
      double loadRate = (double) count / RANKS / loadMillis;
      double repairRate = (double) lostRows / (RANKS - kept.size()) / repairMillis;
      sample("kill without copies: rate to that of the first load", "ratio", repairRate / loadRate);
      sample(
          "kill without copies: other batches meanwhile",
          "per s",
          (reading.batches() - batches) / repairMillis * 1000);
      mismatches += reading.mismatches();
    }
    store.drop();
  }

  /** The first shard, which readers prefer among its copies. */
  private static ResidentShard served(ResidentStore store) {
    return store.shards().get(0);
  }

  private static ProcessHandle process(ResidentStore store, ResidentShard shard) {
    Map<String, Long> pids =
        store
            .run(rank -> SparkEnv.get().executorId() + "/" + ProcessHandle.current().pid())
            .stream()
            .map(text -> text.split("/", 2))
            .collect(
                Collectors.toMap(pair -> pair[0], pair -> Long.valueOf(pair[1]), (a, b) -> a));
    return ProcessHandle.of(pids.get(shard.executorId())).orElseThrow();
  }

  private static long servedBy(ResidentStore store, ResidentShard shard) {
    return store.statistics().executors().stream()
        .filter(executor -> executor.executorId().equals(shard.executorId()))
        .mapToLong(ExecutorStatistics::servedRequests)
        .sum();
  }

  private int executors() {
    return spark.session().sparkContext().getExecutorMemoryStatus().size() - 1; // and the driver
  }

  private static void awaitLost(ResidentStore store) throws InterruptedException {
    await(
        "the loss of an executor",
        () -> store.shards().stream().anyMatch(ResidentShard::isLost));
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long startNs = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - startNs > LIMIT.toNanos()) {
        throw new DDStoreException("%s: not within %s".formatted(what, LIMIT));
      }
      Thread.sleep(POLL_MS);
    }
  }

  private static void signal(String signal, ProcessHandle process)
      throws IOException, InterruptedException {
    String pid = Long.toString(process.pid());
    int status = new ProcessBuilder("kill", "-" + signal, pid).inheritIO().start().waitFor();
    if (status != 0) {
      throw new IOException("kill -%s %s: status %d".formatted(signal, pid, status));
    }
  }

  private static double millisSince(long startNs) {
    return (double) (System.nanoTime() - startNs) / TimeUnit.MILLISECONDS.toNanos(1);
  }
}
