// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.ddstore.DDStore;
import org.ddstore.Variable;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.Stopped;
import org.ddstore.contract.TestRoots;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.PoolStarvedException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/**
 * A loader of rank 0 reads rows of rank 1, another process, which SIGSTOP or SIGKILL stops. After
 * each scenario the harness looks for memory, descriptors and threads in the process of rank 0.
 */
@Tag("system")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
@Tag("always")
public abstract class LoaderStallContract {
  private static final int OTHER = 1;
  private static final Duration COLLECTIVES = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration CLOSE = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration SILENCE = Duration.ofMillis(500);
  private static final String STOP = "stop";
  private static final String PROCEED = "proceed";
  private static final String KILL = "kill";
  private static final int BATCH = 8;
  private static final int DEPTH = 8;

  private final Function<Path, RankBackend> backend;
  private ProcessRanks processes;
  private Stopped stopped;

  /**
   * @param backend by the root of its files
   */
  protected LoaderStallContract(Function<Path, RankBackend> backend) {
    this.backend = backend;
  }

  @BeforeAll
  protected void start() throws IOException {
    processes = new ProcessRanks(backend.apply(TestRoots.sharedMemory()), List.of(Place.HERE));
    processes.offer(STOP, () -> stopped = Stopped.stop(processes.process(OTHER)));
    processes.offer(PROCEED, () -> stopped.proceed());
    processes.offer(KILL, () -> processes.process(OTHER).destroyForcibly());
  }

  @AfterEach
  protected void proceed() throws IOException {
    if (stopped != null) {
      stopped.close();
    }
  }

  @AfterAll
  protected void end() throws IOException {
    processes.close();
  }

  private static Loader open(Variable x, int workers) {
    LoaderOptions options =
        LoaderOptions.defaults().workers(workers).depth(DEPTH).closeTimeout(CLOSE);
    Loader loader =
        Loader.open(x, Samplers.sequential().batchSize(1), new WorldRank(0, 1), options);
    loader.push(endless(), BATCH);
    return loader;
  }

  /** Rows of the other rank. */
  private static Iterator<Long> endless() {
    long first = (long) OTHER * NumberedRows.PER_RANK;
    return new Random(5).longs(first, first + NumberedRows.PER_RANK).boxed().iterator();
  }

  private static void takeSome(Loader loader) {
    for (int i = 0; i < 20; i++) {
      take(loader);
    }
  }

  private static void take(Loader loader) {
    try (LoadedBatch batch = loader.pop(PATIENCE)) {
      assertThat(batch.rows()).isEqualTo(BATCH);
      NumberedRows.check(batch);
    }
  }

  /**
   * Stops the other process and takes what it gave before, until nothing comes: batches are planned
   * some at once, so how many wait then is not always the same.
   */
  private static void stall(RankEnv rank, Loader loader) {
    takeSome(loader);
    await().atMost(PATIENCE).until(() -> loader.pending() == DEPTH);
    rank.meeting().act(STOP);
    await()
        .atMost(PATIENCE)
        .during(SILENCE)
        .until(
            () -> {
              boolean silent = loader.pending() > 0;
              while (loader.isReady()) {
                take(loader);
                silent = false;
              }
              return silent;
            });
  }

  @Test
  void closeCancelsReadsOfAStoppedProcess() throws Exception {
    processes.run(2, COLLECTIVES, LoaderStallContract::closeWhileStopped);
  }

  private static void closeWhileStopped(RankEnv rank) {
    try (DDStore store = rank.open(rank.options().readTimeout(LONG))) {
      Variable x = NumberedRows.add(store);
      if (rank.rank() == 0) {
        Loader loader = open(x, 2);
        stall(rank, loader);
        assertThatThrownBy(() -> loader.pop(SILENCE))
            .isInstanceOf(PoolStarvedException.class)
            .hasMessageContaining("\" has been reading for ")
            .hasMessageContaining(" and waits for rows of rank 1 at ");
        long start = System.nanoTime();
        loader.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CLOSE);
        assertThat(Thread.getAllStackTraces().keySet())
            .noneMatch(thread -> thread.getName().startsWith("ddstore-loader"));
        rank.meeting().act(PROCEED);
        try (Loader again = open(x, 2)) {
          take(again);
        }
      }
      rank.meet();
    }
  }

  @Test
  void batchesReadTogetherShareOneDeadline() throws Exception {
    processes.run(2, COLLECTIVES, LoaderStallContract::deadlineWhileStopped);
  }

  private static void deadlineWhileStopped(RankEnv rank) {
    Duration deadline = Duration.ofSeconds(6);
    try (DDStore store = rank.open(rank.options().readTimeout(deadline))) {
      Variable x = NumberedRows.add(store);
      if (rank.rank() == 0) {
        try (Loader loader = open(x, 1)) {
          takeSome(loader);
          await().atMost(PATIENCE).until(() -> loader.pending() == DEPTH);
          rank.meeting().act(STOP);
          long start = System.nanoTime();
          assertThatThrownBy(
                  () -> {
                    while (true) {
                      take(loader);
                    }
                  })
              .isInstanceOf(DeadlineExceededException.class)
              .hasMessageContaining("rank 1 at");
          // Not once for all that were read together and once more for the first of them.
          assertThat(Duration.ofNanos(System.nanoTime() - start))
              .isLessThan(deadline.multipliedBy(2));
        } finally {
          rank.meeting().act(PROCEED);
        }
      }
      rank.meet();
    }
  }

  @Test
  void popReportsTheLostRankAndLeavesNothing() throws Exception {
    processes.runLosing(OTHER, 2, COLLECTIVES, LoaderStallContract::lose);
    processes.run(2, COLLECTIVES, NumberedRows::openStore); // deletes files of the lost process
  }

  private static void lose(RankEnv rank) throws InterruptedException {
    try (DDStore store = rank.open(rank.options().readTimeout(LONG))) {
      Variable x = NumberedRows.add(store);
      if (rank.rank() == OTHER) {
        new Reading(x, 0).awaitFailure(); // until it is killed
      }
      try (Loader loader = open(x, 2)) {
        takeSome(loader);
        rank.meeting().act(KILL);
        assertThatThrownBy(
                () -> {
                  while (true) {
                    take(loader);
                  }
                })
            .isInstanceOfSatisfying(
                RankLostException.class, lost -> assertThat(lost.rank()).isEqualTo(OTHER));
      }
    }
  }
}
