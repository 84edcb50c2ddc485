// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.wire.connection.StoreToken;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages of barrier tasks arrive whole, in an answer and in a broadcast. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class StartExchangeTest {
  private static final int TASKS = 2;

  private static final CountDownLatch WAITS = new CountDownLatch(1);

  private static SparkSession session;

  @BeforeAll
  static void start() {
    TestCluster.stopOthers();
    session =
        SparkSession.builder()
            .master("local[%d]".formatted(TASKS))
            .config("spark.ui.enabled", "false")
            .getOrCreate();
    session.sparkContext().setLogLevel("OFF");
  }

  @AfterAll
  static void stop() {
    session.stop();
    SparkSession.clearActiveSession();
    SparkSession.clearDefaultSession();
  }

  private static <T> List<T> inTwoTasks(BarrierStage.TaskBody<T> body) {
    return BarrierStage.run(PlacedRdd.empty(session.sparkContext(), List.of("", "")), body);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 10, StartExchange.MAX_ANSWER_BYTES})
  void gathersTheMessagesOfAllTasksInOrder(int bytes) {
    StoreToken token = StoreToken.random();
    List<List<byte[]>> seen;
    try (StartExchange exchange = StartExchange.open(session.sparkContext(), token, TASKS)) {
      seen =
          inTwoTasks(
              rows -> {
                BarrierTaskContext context = BarrierTaskContext.get();
                byte[] own = new byte[bytes + context.partitionId()];
                Arrays.fill(own, (byte) context.partitionId());
                return StartExchange.allGather(context, token, own);
              });
      assertThat(exchange).hasToString("StartExchange[2 of 2 ranks]");
    }

    byte[] second = new byte[bytes + 1];
    Arrays.fill(second, (byte) 1);
    assertThat(seen)
        .hasSize(TASKS)
        .allSatisfy(all -> assertThat(all).containsExactly(new byte[bytes], second));
  }

  @Test
  void cancellationEndsTheWaitForOtherTasks() throws Exception {
    StoreToken token = StoreToken.random();
    try (StartExchange exchange = StartExchange.open(session.sparkContext(), token, TASKS)) {
      CompletableFuture<List<Integer>> job =
          CompletableFuture.supplyAsync(
              () ->
                  inTwoTasks(
                      rows -> {
                        BarrierTaskContext context = BarrierTaskContext.get();
                        if (context.partitionId() == 0) {
                          WAITS.countDown();
                          StartExchange.allGather(context, token, new byte[1]);
                        } else {
                          await().atMost(1, TimeUnit.MINUTES).until(context::isInterrupted);
                        }
                        return 0;
                      }));
      assertThat(WAITS.await(1, TimeUnit.MINUTES)).isTrue();

      session.sparkContext().cancelAllJobs();

      assertThatThrownBy(() -> job.get(1, TimeUnit.MINUTES)).hasMessageContaining("cancelled");
      assertThat(exchange).asString().endsWith("of 2 ranks]");
    }
  }
}
