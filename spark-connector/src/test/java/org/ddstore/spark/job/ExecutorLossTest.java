// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.OnTwoExecutors;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors that are killed, stopped or end themselves: 2 with 2 ranks each. */
@Tag("system")
@Timeout(300)
@Tag("always")
class ExecutorLossTest extends OnTwoExecutors {
  private static StoreSpec numbers() {
    return DDStores.from(numberedRows()).ranks(4).collectiveTimeout(COLLECTIVE_TIMEOUT);
  }

  /**
   * Runs a rank in the attempt in which others die: reads until they are dead and three times more,
   * then calls a collective, in its own thread, which Spark does not interrupt.
   */
  private static void surviveLoss(RankContext context, Evidence evidence) {
    evidence.note("pid of " + context.rank(), ProcessHandle.current().pid());
    context.communicator().barrier();
    String me = "rank " + context.rank();
    CompletableFuture<Void> survivor =
        CompletableFuture.runAsync(
            () -> {
              long rounds = 0;
              while (!evidence.has("victim") || isRunning(evidence.awaitPid("victim"))) {
                readAll(context);
                rounds++;
              }
              for (int i = 0; i < 3; i++) {
                readAll(context);
              }
              evidence.note(me + " read on", rounds);
              long start = System.nanoTime();
              try {
                context.communicator().barrier();
              } catch (RankLostException e) {
                evidence.note(me + " lost", e.rank());
                evidence.note(
                    me + " waited ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
                throw e;
              }
            });
    awaitUninterrupted(survivor);
  }

  private static void awaitUninterrupted(CompletableFuture<Void> survivor) {
    while (!survivor.isDone()) {
      try {
        survivor.get();
      } catch (InterruptedException | ExecutionException e) {
        // Spark kills this task as soon as it knows of the loss; what the survivor met, join says.
      }
    }
    survivor.join();
  }

  @Test
  void survivorsKeepReadingAndTheJobIsRetried() throws Exception {
    Evidence evidence = new Evidence(directory);
    Set<Long> before = cluster.executors();
    CompletableFuture<List<String>> job =
        CompletableFuture.supplyAsync(
            () ->
                numbers()
                    .run(
                        context -> {
                          if (context.attempt() == 1) {
                            surviveLoss(context, evidence);
                          }
                          context.communicator().barrier();
                          return context.attempt() + ":" + readAll(context);
                        }));
    long victim = evidence.awaitPid("pid of 3");
    evidence.awaitNote("pid of 0");
    evidence.note("victim", victim);
    kill(victim);

    assertThat(job.get(2, TimeUnit.MINUTES))
        .as("results of the second attempt")
        .isEqualTo(Collections.nCopies(4, "2:" + SUM));
    int survivors = 0;
    for (int rank = 0; rank < 4; rank++) {
      if (evidence.awaitPid("pid of " + rank) != victim) {
        survivors++;
        assertThat(evidence.read("rank " + rank + " read on")).as("reads of " + rank).isNotNull();
        int lost = Integer.parseInt(evidence.read("rank " + rank + " lost"));
        assertThat(evidence.awaitPid("pid of " + lost)).as("who was lost").isEqualTo(victim);
        assertThat(Long.parseLong(evidence.read("rank " + rank + " waited ms")))
            .as("milliseconds in the barrier")
            .isLessThan(WELL_BELOW_TIMEOUT.toMillis());
      }
    }
    assertThat(survivors).isEqualTo(2);
    assertThat(cluster.executors()).as("executors").doesNotContain(victim).isNotEqualTo(before);
  }

  /** The driver deletes what the dead executor left, because there is no later attempt to do it. */
  @Test
  @Tag("slow")
  void reportsALossInTheOnlyAttemptAndLeavesNothing() {
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Integer>> job =
        CompletableFuture.supplyAsync(
            () ->
                numbers()
                    .maxAttempts(1)
                    .run(
                        context -> {
                          evidence.note("pid of " + context.rank(), ProcessHandle.current().pid());
                          context.communicator().barrier();
                          return Evidence.waitForInterrupt();
                        }));
    long victim = evidence.awaitPid("pid of 1");
    kill(victim);

    assertThatThrownBy(() -> job.get(WELL_BELOW_TIMEOUT.toSeconds(), TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("attempt 1 of 1 on 4 ranks failed: rank ");
    Leftovers.assertNoSharedMemoryOf(Set.of(victim));
    await("executors that live")
        .atMost(Duration.ofMinutes(1))
        .until(() -> cluster.executors().size() == 2);
  }

  @Test
  @Tag("slow")
  void retriesAfterALossWhileLoading() throws Exception {
    Evidence evidence = new Evidence(directory);
    cluster
        .session()
        .udf()
        .register(
            "pausesAt1900",
            (UDF1<Long, Long>)
                id -> {
                  if (id == 1900) {
                    evidence.note("loader", ProcessHandle.current().pid());
                    evidence.awaitNote("killed");
                  }
                  return id;
                },
            DataTypes.LongType);
    Dataset<Row> frame = cluster.session().range(ROWS).selectExpr("pausesAt1900(id) as id");
    CompletableFuture<List<Long>> job =
        CompletableFuture.supplyAsync(
            () ->
                DDStores.from(frame)
                    .ranks(4)
                    .run(
                        context -> {
                          try (Reader reader = context.rows().reader();
                              Batch batch = reader.getBatch(1900, 3)) {
                            return batch.field("id").getLong(0)
                                + batch.field("id").getLong(1)
                                + 10_000L * context.attempt();
                          }
                        }));
    kill(evidence.awaitPid("loader"));
    evidence.note("killed", "");

    assertThat(job.get(2, TimeUnit.MINUTES)).containsOnly(21_903L);
  }

  @Test
  @Tag("slow")
  void namesTheStoppedRankAtTheDeadline() throws Exception {
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Integer>> job =
        CompletableFuture.supplyAsync(
            () ->
                numbers()
                    .maxAttempts(1)
                    .collectiveTimeout(Duration.ofSeconds(10))
                    .run(
                        context -> {
                          evidence.note("pid of " + context.rank(), ProcessHandle.current().pid());
                          evidence.awaitNote("stopped");
                          context.communicator().barrier();
                          return 0;
                        }));
    for (int rank = 0; rank < 4; rank++) {
      evidence.awaitNote("pid of " + rank);
    }
    long stopped = evidence.awaitPid("pid of 2");
    signal("STOP", stopped);
    try {
      evidence.note("stopped", "");
      StoreJobException failed =
          catchThrowableOfType(
              StoreJobException.class,
              () -> {
                try {
                  job.get(WELL_BELOW_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
                } catch (ExecutionException e) {
                  throw e.getCause();
                }
              });
      assertThat(failed)
          .hasCauseInstanceOf(DeadlineExceededException.class)
          .hasMessageContaining("rank 2 ");
    } finally {
      signal("CONT", stopped);
    }
  }

  private static void signal(String name, long pid) throws Exception {
    assertThat(cluster.executors()).as("process to be signalled").contains(pid);
    assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor())
        .as("exit status of kill")
        .isZero();
  }

  /** Each of the first two attempts loses one executor. */
  @Test
  @Tag("slow")
  void replacesExecutorsThatExit() {
    List<Integer> attempts =
        numbers()
            .run(
                context -> {
                  context.communicator().barrier();
                  if (context.attempt() == 1 && context.rank() == 1) {
                    System.exit(3);
                  }
                  if (context.attempt() == 2 && context.rank() == 0) {
                    System.exit(52); // another job's task ran out of memory
                  }
                  context.communicator().barrier();
                  readAll(context);
                  return context.attempt();
                });

    assertThat(attempts).containsExactly(3, 3, 3, 3);
  }

  /** What ends a rank. */
  private interface End extends Runnable, Serializable {}

  /** Runs ranks that wait for rank 0, which ends between two barriers. */
  private static void runUntilRank0(End ends) {
    numbers()
        .run(
            context -> {
              context.communicator().barrier();
              if (context.rank() == 0) {
                ends.run();
              }
              context.communicator().barrier();
              return 0;
            });
  }

  @Test
  @Tag("slow")
  void doesNotRetryATaskWithoutMemory() {
    assertThatThrownBy(
            () ->
                runUntilRank0(
                    () -> {
                      throw new OutOfMemoryError("as if");
                    }))
        .isInstanceOf(StoreJobException.class)
        .hasMessageStartingWith("attempt 1 of 4 on 4 ranks failed: rank 0: ")
        .hasMessageContaining("OutOfMemoryError: as if: raise spark.executor.memory")
        .hasMessageEndingWith("; another attempt would fail in the same way");
  }

  @Test
  @Tag("slow")
  void triesOnceMoreIfAnExecutorWithoutMemoryEnds() {
    assertThatThrownBy(() -> runUntilRank0(() -> System.exit(52)))
        .isInstanceOf(StoreJobException.class)
        .hasMessageStartingWith("attempt 2 of 4 on 4 ranks failed: rank ")
        .hasMessageContaining("the executor ended by OutOfMemoryError: raise");
  }

  @Test
  @Tag("slow")
  void sortsAgainAfterTheLossOfSortedRows() {
    Dataset<Row> frame =
        cluster.session().range(ROWS).selectExpr("id", "-id as key", "concat('t', id) as t");
    List<Long> wrong =
        DDStores.from(frame)
            .ranks(4)
            .orderBy("key")
            .collectiveTimeout(COLLECTIVE_TIMEOUT)
            .run(
                context -> {
                  if (context.attempt() == 1 && context.rank() == 3) {
                    Runtime.getRuntime().halt(137);
                  }
                  long differing = 0;
                  try (Reader reader = context.rows().reader()) {
                    for (long i = 0; i < ROWS; i++) {
                      try (Batch batch = reader.getBatch(i)) {
                        long id = ROWS - 1 - i;
                        boolean right =
                            batch.field("id").getLong(0) == id
                                && batch.string("t", 0).equals("t" + id);
                        differing += right ? 0 : 1;
                      }
                    }
                  }
                  context.communicator().barrier();
                  return differing;
                });
    assertThat(wrong).containsExactly(0L, 0L, 0L, 0L);
  }

  /** By which Spark notices, from 4.1 on, that a task gave other rows when it was repeated. */
  private static final List<String> CHECKSUMS =
      List.of(
          "spark.sql.shuffle.orderIndependentChecksum.enabled",
          "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch",
          "spark.sql.shuffle.orderIndependentChecksum.enableQueryLevelRollbackOnMismatch");

  /** Each computation of a partition gives its rows in another order. */
  private static Dataset<Row> rowsInAnyOrder(long rows) {
    MapPartitionsFunction<Long, Long> mix =
        ids -> {
          List<Long> all = new ArrayList<>();
          ids.forEachRemaining(all::add);
          Collections.shuffle(all);
          return all.iterator();
        };
    return cluster
        .session()
        .range(0, rows, 1, 4)
        .mapPartitions(mix, Encoders.LONG())
        .toDF("id")
        .selectExpr("id", "concat('t', id, repeat('-', 200)) as t");
  }

  /**
   * Kills an executor when the first task of a sort has stored its rows in another one: the outputs
   * of its map tasks are computed again while sorted rows of their first computation are kept.
   */
  private static final class SortKiller extends SparkListener {
    private final Map<String, Long> pids = cluster.pids();
    private final AtomicBoolean killed = new AtomicBoolean();

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      boolean sorted =
          end.taskType().equals("ResultTask")
              && end.taskMetrics() != null
              && end.taskMetrics().shuffleReadMetrics().recordsRead() > 0;
      if (sorted && killed.compareAndSet(false, true)) {
        pids.forEach(
            (executor, pid) -> {
              if (!executor.equals(end.taskInfo().executorId())) {
                ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
              }
            });
      }
    }
  }

  @Test
  @Tag("slow")
  void keepsAllRowsIfAnExecutorDiesDuringASort() {
    long rows = 400_000;
    for (String setting : CHECKSUMS) {
      cluster.session().conf().set(setting, false);
    }
    SortKiller killer = new SortKiller();
    cluster.session().sparkContext().addSparkListener(killer);
    try {
      List<Long> distinct =
          DDStores.from(rowsInAnyOrder(rows))
              .ranks(4)
              .shuffle(7)
              .run(
                  context -> {
                    BitSet seen = new BitSet();
                    try (Reader reader = context.rows().reader()) {
                      for (long first = 0; first < context.rows().rows(); first += 1000) {
                        long[] indices = LongStream.range(first, first + 1000).toArray();
                        try (Batch batch = reader.getBatch(indices)) {
                          for (int i = 0; i < indices.length; i++) {
                            seen.set((int) batch.field("id").getLong(i));
                          }
                        }
                      }
                    }
                    context.communicator().barrier();
                    return (long) seen.cardinality();
                  });

      assertThat(killer.killed).as("whether an executor was killed").isTrue();
      assertThat(distinct).as("distinct rows").containsOnly(rows);
    } finally {
      cluster.session().sparkContext().removeSparkListener(killer);
      for (String setting : CHECKSUMS) {
        cluster.session().conf().unset(setting);
      }
    }
  }
}
