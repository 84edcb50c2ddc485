// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.cluster.ClusterFacts;
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
  private static final String KILL = "kill: ";
  private static final String STOP = "stop: ";
  private static final String RELOAD = "kill without copies: ";

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

  private ResidentStore load(String name, long count, int ranks) {
    return DDStores.from(rows(spark, count)).ranks(ranks).shortcut(false).load(name);
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
          .forEach(pause -> sample(KILL + "longest pause of a reader", "ms", pause));
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
          .forEach(pause -> sample(STOP + "longest pause of a reader", "ms", pause));
      long goesOnNs = System.nanoTime();
      long served = servedBy(store, shard);
      await("reads of " + shard, () -> servedBy(store, shard) > served + 2L * readers);
      sample(STOP + "until the executor is used again", "ms", millisSince(goesOnNs));
      reading
          .longestPausesMillis()
          .forEach(pause -> sample(STOP + "longest pause of a reader after it", "ms", pause));
      mismatches += reading.mismatches();
    }
    if (store.shards().stream().anyMatch(ResidentShard::isLost)) {
      throw new DDStoreException("a stop of %d s lost shards: %s".formatted(seconds, store));
    }
  }

  /** Loads rows, kills the executor of some, and loads them again while others are read. */
  void killWithoutCopies(long count) throws InterruptedException {
    ResidentStore store = load("single", count, RANKS);
    ResidentShard lost = served(store);
    List<ResidentShard> kept =
        store.shards().stream()
            .filter(shard -> !shard.executorId().equals(lost.executorId()))
            .toList();
    long lostRows = count - kept.stream().mapToLong(ResidentShard::rows).sum();
    ProcessHandle process = process(store, lost);
    ResidentShard read = kept.get(0);
    try (RecoverReaders reading =
        RecoverReaders.paced(store, read.firstRow(), read.rows(), readers, seed++)) {
      long loadNs = System.nanoTime();
      ResidentStore compared = load("compared", lostRows, RANKS - kept.size());
      double loadMillis = millisSince(loadNs);
      compared.drop();
      long killNs = System.nanoTime();
      process.destroyForcibly();
      awaitLost(store);
      sample(RELOAD + "until the loss is known", "ms", millisSince(killNs));
      reading.longestPausesMillis();
      CompletableFuture<Void> repair = CompletableFuture.runAsync(store::repair);
      await("slots of a new executor", () -> slots() >= RANKS || repair.isDone());
      sample(RELOAD + "until a new executor has slots", "ms", millisSince(killNs));
      long slotsNs = System.nanoTime();
      repair.join();
      double repairMillis = millisSince(slotsNs);
      sample(RELOAD + "until all rows are there", "ms", millisSince(killNs));
      sample(RELOAD + "load of as many rows into a new store", "ms", loadMillis);
      sample(RELOAD + "load of the lost rows, from slots on", "ms", repairMillis);
      sample(RELOAD + "its rate by that of the load", "ratio", loadMillis / repairMillis);
      reading
          .longestPausesMillis()
          .forEach(pause -> sample(RELOAD + "longest pause of a reader of others", "ms", pause));
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

  private int slots() {
    return ClusterFacts.of(spark.session().sparkContext()).slots();
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
