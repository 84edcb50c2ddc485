// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.TestCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The messages of barrier tasks arrive whole, and an interrupt stays what it was. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class BarrierGatherTest {
  private static final int TASKS = 2;
  private static final int ROUNDS = 20;

  private static final CountDownLatch WAITS = new CountDownLatch(1);

  private static SparkSession session;

  @BeforeAll
  static void start() {
    TestCluster.stopOthers();
    session =
        SparkSession.builder()
            .master("local[%d]".formatted(TASKS))
            .config("spark.ui.enabled", "false")
            .config("spark.barrier.sync.timeout", "100s")
            .getOrCreate();
    session.sparkContext().setLogLevel("OFF");
  }

  @AfterAll
  static void stop() {
    session.stop();
    SparkSession.clearActiveSession();
    SparkSession.clearDefaultSession();
  }

  @AfterEach
  void assertNoThreadLeft() {
    await("the task of a cancelled job ends")
        .atMost(1, TimeUnit.MINUTES)
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .doesNotContain("ddstore-barrier-waker"));
  }

  private static <T> List<T> inTwoTasks(BarrierStage.TaskBody<T> body) {
    return BarrierStage.run(PlacedRdd.empty(session.sparkContext(), List.of("", "")), body);
  }

  @Test
  void gathersTheMessagesOfAllTasksInOrder() {
    List<List<String>> seen =
        inTwoTasks(
            rows -> {
              BarrierTaskContext context = BarrierTaskContext.get();
              List<String> all = new ArrayList<>();
              for (int round = 0; round < ROUNDS; round++) {
                String[] messages =
                    BarrierGather.allGather(context, context.partitionId() + " of " + round);
                all.add(String.join(", ", messages));
                if (Thread.currentThread().isInterrupted()) {
                  throw new AssertionError("interrupted after round " + round);
                }
              }
              return all;
            });

    assertThat(seen).hasSize(TASKS);
    for (int round = 0; round < ROUNDS; round++) {
      String expected = "0 of %d, 1 of %d".formatted(round, round);
      assertThat(seen.get(0).get(round)).isEqualTo(expected);
      assertThat(seen.get(1).get(round)).isEqualTo(expected);
    }
  }

  @Test
  void cancellationEndsTheWaitForOtherTasks() throws Exception {
    CompletableFuture<List<Integer>> job =
        CompletableFuture.supplyAsync(
            () ->
                inTwoTasks(
                    rows -> {
                      BarrierTaskContext context = BarrierTaskContext.get();
                      if (context.partitionId() == 0) {
                        WAITS.countDown();
                        BarrierGather.allGather(context, "alone");
                      } else {
                        await().atMost(1, TimeUnit.MINUTES).until(context::isInterrupted);
                      }
                      return 0;
                    }));
    assertThat(WAITS.await(1, TimeUnit.MINUTES)).isTrue();

    session.sparkContext().cancelAllJobs();

    assertThatThrownBy(() -> job.get(1, TimeUnit.MINUTES)).hasMessageContaining("cancelled");
  }
}
