// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.RankTask;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.types.StoreJobException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that somebody ends: they end soon, are not submitted again, and leave nothing. */
@Tag("system")
@Timeout(300)
class CancellationTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  private static TestCluster cluster;

  @TempDir Path directory;

  private final CompletableFuture<Throwable> thrown = new CompletableFuture<>();
  private Evidence evidence;
  private Thread caller;
  private volatile boolean interruptedAfterwards;

  @BeforeAll
  static void start() {
    cluster = TestCluster.start(2, 1, 1024);
  }

  @AfterAll
  static void stop() {
    try (TestCluster last = cluster) {
      last.assertNothingLeft();
    }
  }

  @AfterEach
  void assertNothingHeld() {
    assertThat(evidence.has("attempt 2")).as("second attempt").isFalse();
    await("no active job")
        .atMost(SOON)
        .until(() -> context().statusTracker().getActiveJobIds().length == 0);
    cluster.assertNothingHeld();
  }

  private static SparkContext context() {
    return cluster.session().sparkContext();
  }

  /** Starts a job by a thread of its own and returns when both ranks run their tasks. */
  private void startJob(Runnable inCaller, RankTask<Integer> task) {
    evidence = new Evidence(directory);
    Evidence notes = evidence;
    caller =
        new Thread(
            () -> {
              try {
                inCaller.run();
                DDStores.from(cluster.session().range(1000).toDF())
                    .ranks(2)
                    .run(
                        rank -> {
                          rank.communicator().barrier();
                          notes.note("attempt " + rank.attempt(), "");
                          notes.note("rank " + rank.rank(), "");
                          return task.run(rank);
                        });
                thrown.complete(null);
              } catch (RuntimeException e) {
                interruptedAfterwards = Thread.currentThread().isInterrupted();
                thrown.complete(e);
              }
            });
    caller.start();
    await("both ranks run")
        .atMost(Duration.ofMinutes(2))
        .until(() -> thrown.isDone() || (notes.has("rank 0") && notes.has("rank 1")));
    assertThat(thrown).as("end of the job").isNotDone();
  }

  private void assertCancelled() throws Exception {
    Throwable e = thrown.get(SOON.toSeconds(), TimeUnit.SECONDS);
    assertThat(e)
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("attempt 1 of 4 on 2 ranks was cancelled");
  }

  private static int waitInCollective(RankContext rank) throws InterruptedException {
    if (rank.rank() == 0) {
      rank.communicator().barrier();
    }
    return Evidence.waitForInterrupt();
  }

  @Test
  void cancelAllJobsEndsTheJob() throws Exception {
    startJob(() -> {}, CancellationTest::waitInCollective);
    context().cancelAllJobs();
    assertCancelled();
  }

  @Test
  void cancelJobGroupEndsTheJob() throws Exception {
    startJob(
        () -> context().setJobGroup("mine", "a job to be cancelled", false),
        CancellationTest::waitInCollective);
    context().cancelJobGroup("mine");
    assertCancelled();
  }

  @Test
  void interruptOfTheCallingThreadEndsTheJob() throws Exception {
    startJob(() -> {}, CancellationTest::waitInCollective);
    caller.interrupt();
    assertCancelled();
    assertThat(interruptedAfterwards).as("interrupt flag of the caller").isTrue();
  }

  @Test
  void cancellationEndsReads() throws Exception {
    startJob(
        () -> {},
        rank -> {
          try (var reader = rank.rows().reader()) {
            while (!Thread.currentThread().isInterrupted()) {
              reader.getBatch(1, 999, 500).close();
            }
          }
          return 0;
        });
    context().cancelAllJobs();
    assertCancelled();
  }
}
