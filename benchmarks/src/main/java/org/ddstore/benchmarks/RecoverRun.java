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
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.DDStoreException;

/** The faults of {@link RecoverBench}, one a call, on executors that it kills and stops. */
final class RecoverRun {
  private static final int RANKS = 4;
  private static final Duration BEFORE = Duration.ofMillis(300);
  private static final Duration AFTER_KILL = Duration.ofSeconds(2);
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final long POLL_MS = 20;
  private static final String KILL = "kill: ";
  private static final String STOP = "stop: ";
  private static final String RELOAD = "kill without copies: ";

  private final EmbeddedSpark spark;
  private final StoreSpec rows;
  private final int readers;
  private final List<RecoverBench.Sample> samples;
  private long seed;
  private long mismatches;
  private ResidentStore copies; // null before the first fault with copies

  /**
   * @param count number of rows of each store
   */
  RecoverRun(
      EmbeddedSpark spark, long count, int readers, long seed, List<RecoverBench.Sample> samples) {
    this.spark = spark;
    this.rows =
        DDStores.from(
                spark.session().range(count).selectExpr("id", "array_repeat(float(id), 32) as x"))
            .shortcut(false);
    this.readers = readers;
    this.seed = seed;
    this.samples = samples;
  }

  long mismatches() {
    return mismatches;
  }

  private void sample(String what, String unit, double value) {
    samples.add(new RecoverBench.Sample(what, unit, value));
  }

  private ResidentStore withCopies() {
    if (copies == null) {
      copies = rows.ranks(RANKS).width(RANKS / 2).load("copies");
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

  /**
   * Loads rows into new executors, kills the executor of some, and loads these again while others
   * are read. Load and reload both run in executors that have loaded nothing before.
   */
  void killWithoutCopies() throws InterruptedException {
    await("slots of the executors", () -> slots() >= 2);
    long startNs = System.nanoTime();
    ResidentStore store = rows.ranks(2).load("single");
    double loadMillis = millisSince(startNs);
    ResidentShard lost = served(store);
    ResidentShard kept = store.shards().get(1);
    ProcessHandle process = process(store, lost);
    try (RecoverReaders reading =
        RecoverReaders.paced(store, kept.firstRow(), kept.rows(), readers, seed++)) {
      long killNs = System.nanoTime();
      process.destroyForcibly();
      awaitLost(store);
      sample(RELOAD + "until the loss is known", "ms", millisSince(killNs));
      reading.longestPausesMillis();
      CompletableFuture<Void> repair = CompletableFuture.runAsync(store::repair);
      await("slots of a new executor", () -> slots() >= 2 || repair.isDone());
      sample(RELOAD + "until a new executor has slots", "ms", millisSince(killNs));
      long slotsNs = System.nanoTime();
      repair.join();
      double repairMillis = millisSince(slotsNs);
      sample(RELOAD + "until all rows are there", "ms", millisSince(killNs));
      sample(RELOAD + "first load, of 2 ranks", "ms", loadMillis);
      sample(RELOAD + "load of the lost rank, from slots on", "ms", repairMillis);
      double rate = lost.rows() / repairMillis;
      sample(
          RELOAD + "rate of a rank by that of the first load",
          "ratio",
          rate / (store.rows() / (2 * loadMillis)));
      reading
          .longestPausesMillis()
          .forEach(pause -> sample(RELOAD + "longest pause of a reader of others", "ms", pause));
      mismatches += reading.mismatches();
    }
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
            .collect(Collectors.toMap(pair -> pair[0], pair -> Long.valueOf(pair[1]), (a, b) -> a));
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
    await("the loss of an executor", () -> store.shards().stream().anyMatch(ResidentShard::isLost));
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
