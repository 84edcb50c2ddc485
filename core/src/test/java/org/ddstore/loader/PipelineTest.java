// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.ddstore.Tensor;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.SampleOrder;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.types.PoolStarvedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queues and waits: which batches come, in which order, and who waits for them. */
@Timeout(120)
class PipelineTest extends OnSamples {
  @Test
  void pullsAnEndlessSourceOnlyAsFarAsItsDepth() {
    AtomicLong pulled = new AtomicLong();
    try (Loader loader = open(LoaderOptions.defaults().depth(3))) {
      loader.push(endless(pulled), 10);
      for (int number = 0; number < 50; number++) {
        int popped = number;
        awaitTrue(() -> loader.pending() == 3 && loader.isReady());
        // A stream's iterator is one element ahead of what is asked for.
        assertThat(pulled.get()).isBetween(10L * (popped + 3), 10L * (popped + 3) + 1);
        try (LoadedBatch batch = loader.pop(PATIENCE)) {
          assertThat(batch.row(0)).isEqualTo(10L * number % Samples.ROWS);
          assertThat(batch.number()).isEqualTo(number);
        }
      }
    }
  }

  @Test
  void queuesSourcesInOrderAndKeepsOrDropsPartialBatches() {
    for (boolean keep : new boolean[] {true, false}) {
      try (Loader loader = open(LoaderOptions.defaults().partialBatches(keep))) {
        loader.push(List.of(1L, 2L, 3L, 4L, 5L).iterator(), 2);
        loader.push(List.<Long>of().iterator(), 2);
        loader.push(List.of(9L, 9L, 0L).iterator(), 3);
        List<List<Long>> got = new ArrayList<>();
        for (int i = 0; i < (keep ? 4 : 3); i++) {
          try (LoadedBatch batch = loader.pop(PATIENCE)) {
            got.add(
                LongStream.range(0, batch.rows()).map(r -> batch.row((int) r)).boxed().toList());
          }
        }
        assertThat(got)
            .isEqualTo(
                keep
                    ? List.of(List.of(1L, 2L), List.of(3L, 4L), List.of(5L), List.of(9L, 9L, 0L))
                    : List.of(List.of(1L, 2L), List.of(3L, 4L), List.of(9L, 9L, 0L)));
        assertThatThrownBy(() -> loader.pop(AT_ONCE)).isInstanceOf(PoolStarvedException.class);
      }
    }
  }

  @Test
  void workersDoNotPlan() {
    Set<String> planners = ConcurrentHashMap.newKeySet();
    Sampler named = new NamedThreads(Samplers.shuffled(3), planners);
    String me = Thread.currentThread().getName();
    LoaderOptions options = LoaderOptions.defaults().fields("id"); // a consumer may read, too
    try (Loader loader = Loader.open(samples.rows(), named.batchSize(10), ALONE, options)) {
      for (int epoch = 0; epoch < 50; epoch++) {
        Set<Long> rows = new HashSet<>();
        for (LoadedBatch batch : loader.epoch(epoch)) {
          for (int i = 0; i < batch.rows(); i++) {
            assertThat(rows.add(batch.row(i))).isTrue();
          }
        }
        assertThat(rows).hasSize(Samples.ROWS / 10 * 10);
      }
    }
    assertThat(planners).isSubsetOf(me, "ddstore-loader-plan");
  }

  private record NamedThreads(Sampler sampler, Set<String> names) implements Sampler {
    @Override
    public boolean neverWaits() {
      return true;
    }

    @Override
    public String describe() {
      return sampler.describe();
    }

    @Override
    public SampleOrder order(Epoch epoch) {
      SampleOrder order = sampler.order(epoch);
      return new SampleOrder() {
        @Override
        public long size() {
          return order.size();
        }

        @Override
        public long at(long position) {
          names.add(Thread.currentThread().getName());
          return order.at(position);
        }
      };
    }
  }

  @Test
  void popCanBeRetriedAfterStarvation() {
    CountDownLatch goOn = new CountDownLatch(1);
    try (Loader loader = open(LoaderOptions.defaults())) {
      loader.push(blocking(goOn), 1);
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> loader.pop(AT_ONCE))
            .isInstanceOf(PoolStarvedException.class)
            .hasMessageContaining("no batch within PT0.001S: 0 of at most 16 batches planned")
            .hasMessageContaining("sources left: 1");
      }
      goOn.countDown();
      for (int i = 0; i < 10; i++) {
        try (LoadedBatch batch = loader.pop(PATIENCE)) {
          assertThat(batch.row(0)).isEqualTo(7);
        }
      }
    }
  }

  @Test
  void countsTheWaitOfStarvedPops() {
    CountDownLatch goOn = new CountDownLatch(1);
    Duration wait = Duration.ofMillis(20);
    try (Loader loader = open(LoaderOptions.defaults())) {
      loader.push(blocking(goOn), 1);
      assertThatThrownBy(() -> loader.pop(wait)).isInstanceOf(PoolStarvedException.class);
      goOn.countDown();
      loader.pop(Duration.ofSeconds(Long.MAX_VALUE)).close();
      StageStatistics waits =
          loader.statistics().stream()
              .filter(statistics -> statistics.stage() == Stage.TRAINER_WAITS)
              .findAny()
              .orElseThrow();
      assertThat(waits.count()).isEqualTo(1);
      assertThat(waits.totalNanos()).isGreaterThanOrEqualTo(wait.toNanos());
    }
  }

  @Test
  void newEpochDoesNotWaitForAnEarlierSource() {
    try (Loader loader = open(LoaderOptions.defaults())) {
      loader.push(blocking(new CountDownLatch(1)), 1);
      assertThatThrownBy(() -> loader.pop(AT_ONCE)).isInstanceOf(PoolStarvedException.class);
      assertThat(loader.epoch(0).next().number()).isZero();
    }
  }

  /** A transform keeps what it was given: of memory that is used again, or was freed. */
  @Test
  void tensorsOfClosedAndDiscardedBatchesRefuseReads() {
    List<Tensor> kept = new ArrayList<>();
    List<LoadedBatch> batches = new ArrayList<>();
    LoaderOptions options =
        LoaderOptions.defaults()
            .depth(3)
            .workers(1)
            .transform(
                batch -> {
                  synchronized (kept) {
                    kept.add(batch.field("id"));
                    batches.add(batch);
                  }
                  if (batch.epoch() == 2 && batch.number() == 1) {
                    throw new IllegalStateException("the transform broke");
                  }
                });
    try (Loader loader = open(options)) {
      loader.epoch(0);
      awaitTrue(() -> loader.pending() == 3 && loader.isReady());
      loader.epoch(1);
      loader.pop(PATIENCE).close();
      EpochLoop broken = loader.epoch(2);
      broken.next();
      assertThatThrownBy(broken::next).hasMessage("the transform broke");
    }
    assertThat(kept).hasSizeGreaterThanOrEqualTo(4);
    for (Tensor tensor : kept) {
      assertThatThrownBy(() -> tensor.getLong(0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("closed: LoadedBatch[epoch ");
    }
    for (LoadedBatch batch : batches) {
      assertThatThrownBy(() -> batch.field("id"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("closed: LoadedBatch[epoch ");
    }
  }

  @Test
  void starvedPopReportsBatchesHeldByTheConsumer() {
    List<LoadedBatch> held = new ArrayList<>();
    try (Loader loader = open(LoaderOptions.defaults().depth(2))) {
      loader.push(endless(new AtomicLong()), 4);
      for (int i = 0; i < 3; i++) {
        held.add(loader.pop(PATIENCE));
      }
      assertThatThrownBy(() -> loader.pop(AT_ONCE))
          .isInstanceOf(PoolStarvedException.class)
          .hasMessageContaining("3 held by the consumer");
      held.get(1).close();
      held.set(1, loader.pop(PATIENCE));
      assertThat(held.get(1).number()).isEqualTo(3);
      assertThat(held.get(0).row(3)).as("a held batch stays as it is").isEqualTo(3);
    }
    for (LoadedBatch batch : held) {
      assertThat(batch.field("id").getLong(0)).as("after the close").isEqualTo(batch.row(0));
      batch.close();
    }
  }

  @Test
  void rejectsABatchLargerThanMaxBytes() {
    try (Loader loader = open(LoaderOptions.defaults().maxBytes(1000))) {
      assertThatThrownBy(() -> loader.epoch(0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching(
              "a batch of 10 samples takes [\\d,]+ bytes, and maxBytes is 1,000: raise it by"
                  + " maxBytes\\(..\\), or use about 1 sample per batch");
    }
    assertThatThrownBy(() -> LoaderOptions.defaults().depth(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("depth 0 outside [1, 1,024]");
  }

  @Test
  void rejectedEpochChangesNothing() {
    BatchSampler large = Samplers.sequential().batchSize(Samples.ROWS);
    LoaderOptions options = LoaderOptions.defaults().fields("image").maxBytes(18_000);
    try (Loader loader = Loader.open(samples.rows(), large, ALONE, options)) {
      EpochState before = loader.state();
      EpochState later =
          new EpochState(
              4, 1, before.rows(), 0, before.sampling(), before.schema(), "", before.delivery());
      loader.push(List.of(7L).iterator(), 1);
      assertThatThrownBy(() -> loader.resume(later))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("a batch of 203 samples takes");
      assertThatThrownBy(loader::state)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage(
              "no epoch was begun on Loader[\"rows\", sequential/203, rank 0 of 1], and a state"
                  + " does not record the position in pushed samples");
      try (LoadedBatch batch = loader.pop(PATIENCE)) {
        assertThat(batch.row(0)).isEqualTo(7);
      }
    }
  }

  /**
   * Its step takes as long as two batches: it ends when the one after the next has been made. A
   * loader that began only when it is asked would never get there.
   */
  @Test
  void slowConsumerNeverWaits() throws Exception {
    int batches = Samples.ROWS / 10;
    Semaphore made = new Semaphore(0);
    LoaderOptions options = LoaderOptions.defaults().workers(1).transform(batch -> made.release());
    try (Loader loader = open(options)) {
      EpochLoop loop = loader.epoch(0);
      assertThat(loop.remaining()).isEqualTo(batches);
      made.acquire(); // the worker hands over what it has made before it makes another
      for (int number = 0; number < batches; number++) {
        if (number < batches - 1) {
          made.acquire();
        } else {
          awaitTrue(loader::isReady);
        }
        loop.next();
      }
      assertThat(loop.iterator().hasNext()).isFalse();
      StageStatistics waits = loader.statistics().get(Stage.TRAINER_WAITS.index());
      assertThat(waits).isEqualTo(new StageStatistics(Stage.TRAINER_WAITS, 0, 0, 0, 0));
      for (StageStatistics stage : loader.statistics().subList(0, 4)) {
        assertThat(stage.count()).as("%s", stage).isEqualTo(batches);
        assertThat(stage.bestNanos()).isLessThanOrEqualTo(stage.totalNanos() / batches);
      }
      assertThat(loader.statistics().get(Stage.READ.index()).bytes())
          .isGreaterThan(batches * 10L * (8 + 90 + 16));
    }
  }

  /** No batch is made before its consumer sleeps for it. */
  @Test
  void countsAWaitForEachBatchOfAFastConsumer() throws Exception {
    Semaphore mayBeMade = new Semaphore(0);
    AtomicLong asked = new AtomicLong();
    LoaderOptions options =
        LoaderOptions.defaults().workers(1).transform(batch -> mayBeMade.acquireUninterruptibly());
    try (Loader loader = open(options)) {
      EpochLoop loop = loader.epoch(0);
      Thread consumer =
          new Thread(
              () -> {
                for (int number = 0; number < 5; number++) {
                  asked.incrementAndGet();
                  loop.next();
                }
              });
      consumer.start();
      try {
        for (int number = 1; number <= 5; number++) {
          int next = number;
          awaitTrue(() -> asked.get() == next && consumer.getState() == Thread.State.TIMED_WAITING);
          mayBeMade.release();
        }
        consumer.join(PATIENCE.toMillis());
        assertThat(consumer.isAlive()).isFalse();
        assertThat(loader.statistics().get(Stage.TRAINER_WAITS.index()).count()).isEqualTo(5);
      } finally {
        mayBeMade.release(Samples.ROWS);
      }
    }
  }

  /** Quick batches are handed over some at once; no slow one may keep them from a consumer. */
  @Test
  void deliversReadyBatchesWhileTheNextIsSlow() {
    CountDownLatch goOn = new CountDownLatch(1);
    LoaderOptions options =
        LoaderOptions.defaults()
            .workers(1)
            .transform(
                batch -> {
                  if (batch.number() % 3 == 2) {
                    awaitLatch(goOn);
                  }
                });
    try (Loader loader = open(options)) {
      EpochLoop loop = loader.epoch(0);
      assertThat(loop.next().number()).isEqualTo(0);
      assertThat(loop.next().number()).isEqualTo(1);
      assertThatThrownBy(() -> loader.pop(AT_ONCE)).isInstanceOf(PoolStarvedException.class);
      goOn.countDown();
      for (int number = 2; number < Samples.ROWS / 10; number++) {
        assertThat(loop.next().number()).isEqualTo(number);
      }
    }
  }
}
