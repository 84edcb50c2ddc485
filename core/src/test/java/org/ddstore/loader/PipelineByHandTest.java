// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.ddstore.memory.HostMemory;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.SampleOrder;
import org.ddstore.sampling.SampleSpace;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PoolStarvedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread does what planner, worker and consumer do, in an order that is chosen. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // waits of workers go on
class PipelineByHandTest extends OnSamples {
  private static final int BATCH = 10;
  private static final int DEPTH = 4;
  private static final long SLOW_NANOS = 1_000_000;
  private static final LoaderOptions OPTIONS =
      LoaderOptions.defaults().depth(DEPTH).workers(2).pinnedMemory(false).fields("id");

  private final StageCounters counters = new StageCounters();
  private long clock; // what the consumer does takes no time of it
  private Error noMemory;
  private long bytesOfRows;
  private Pipeline pipeline;

  @BeforeEach
  void openPipeline() {
    bytesOfRows = OffHeapBuffer.liveBytes();
    pipeline = pipeline(OPTIONS);
  }

  private Pipeline pipeline(LoaderOptions options) {
    Recipe recipe =
        Recipe.of(samples.rows(), SampleSpace.ROWS, options, HostMemory.plain("a test"));
    return new Pipeline(recipe, options, counters, this::now);
  }

  private long now() {
    if (noMemory != null) {
      throw noMemory;
    }
    return clock;
  }

  private static EpochSource shuffled(Samples of) {
    return epoch(of, Samplers.shuffled(1).batchSize(BATCH));
  }

  @AfterEach
  void closePipeline() {
    pipeline.close();
  }

  private static EpochSource epoch(Samples of, BatchSampler sampler) {
    return new EpochSource(sampler, sampler.epoch(of.rows().rows(), ALONE, 0), 0, 0);
  }

  private void plan() {
    plan(1);
  }

  private void plan(long nanos) {
    Entry entry = pipeline.nextToPlan();
    entry.plan(counters);
    pipeline.planned(entry, null, nanos);
  }

  private void read() {
    read(SLOW_NANOS);
  }

  private void read(long nanos) {
    for (Entry entry : pipeline.nextToRead()) {
      Slot slot = entry.slot();
      Throwable error = null;
      try {
        Slot.readRows(List.of(slot));
        slot.convert();
      } catch (RuntimeException e) {
        error = e;
      }
      pipeline.finished(entry, error == null ? pipeline.batchOf(entry) : null, error, nanos);
    }
  }

  private long count(Stage stage) {
    return counters.all().get(stage.index()).count();
  }

  private void assertStarved() {
    assertThatThrownBy(() -> pipeline.pop(AT_ONCE)).isInstanceOf(PoolStarvedException.class);
  }

  @Test
  void consumerPlansWhenNoBatchIsReady() {
    pipeline.push(shuffled(samples));
    assertStarved();
    assertThat(count(Stage.PLAN)).as("how long it takes is not known").isZero();
    plan();
    for (int i = 0; i < 4; i++) {
      assertStarved(); // and plans one at least, however long that takes
    }
    assertThat(count(Stage.PLAN)).as("as many as its workers need").isEqualTo(4);
  }

  private void takes(int number) {
    try (LoadedBatch batch = pipeline.pop(PATIENCE)) {
      assertThat(batch.number()).isEqualTo(number);
      EpochBatches planned = Samplers.shuffled(1).batchSize(BATCH).epoch(Samples.ROWS, ALONE, 0);
      long[] rows = new long[BATCH];
      planned.fill(number, rows);
      for (int i = 0; i < BATCH; i++) {
        assertThat(batch.field("id").getLong(i)).isEqualTo(rows[i]);
      }
    }
  }

  @Test
  void consumerReadsWhenNoBatchIsReady() {
    pipeline.push(shuffled(samples));
    plan();
    plan();
    assertStarved();
    assertThat(count(Stage.READ)).as("how long it takes is not known").isZero();
    read(1);
    takes(0);
    for (int number = 1; number < Samples.ROWS / BATCH; number++) {
      takes(number); // planned and read by itself
    }
    assertThat(count(Stage.READ)).isEqualTo(Samples.ROWS / BATCH - 1);
    assertThat(count(Stage.TRAINER_WAITS)).as("it trains in none").isEqualTo(Samples.ROWS / BATCH);
    assertStarved();
  }

  @Test
  void consumerLeavesSlowReadsToWorkers() {
    pipeline.push(shuffled(samples));
    plan();
    read();
    takes(0);
    assertStarved();
    assertThat(count(Stage.PLAN)).as("planned by the consumer").isGreaterThan(1);
    assertThat(count(Stage.READ)).isZero();
  }

  /** Of "points" the first batch shows how much memory others take. */
  @Test
  void consumerRunsNoTransformAndReadsNoBatchOfUnknownSize() {
    for (LoaderOptions options :
        List.of(OPTIONS.transform(batch -> {}), OPTIONS.fields("points"))) {
      pipeline.close();
      pipeline = pipeline(options);
      pipeline.push(shuffled(samples));
      plan();
      read(1);
      pipeline.pop(AT_ONCE).close();
      assertStarved();
      assertThat(pipeline.pending()).as("that could be read").isPositive();
    }
    assertThat(count(Stage.READ)).isZero();
  }

  /** Although it could help itself. */
  @Test
  void interruptedConsumerReadsNothing() {
    pipeline.push(shuffled(samples));
    plan();
    plan();
    read(1);
    takes(0);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> pipeline.pop(AT_ONCE))
        .isInstanceOf(DDStoreException.class)
        .hasMessage("interrupted while waiting for a batch");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(count(Stage.READ)).isZero();
    takes(1);
  }

  @Test
  void starvedPopWithZeroTimeoutNeitherPlansNorReads() {
    pipeline.push(shuffled(samples));
    plan();
    plan();
    read(1);
    takes(0);
    assertThatThrownBy(() -> pipeline.pop(Duration.ZERO)).isInstanceOf(PoolStarvedException.class);
    assertThat(count(Stage.PLAN)).isEqualTo(2);
    assertThat(count(Stage.READ)).isZero();
  }

  /** Neither the end of a source nor a batch of one sample says how long others take. */
  @Test
  void smallBatchesAndSourceEndsDoNotCountAsQuick() {
    for (int epoch = 0; epoch < 3; epoch++) {
      BatchSampler sampler = Samplers.shuffled(1).batchSize(Samples.ROWS - 1).everySample();
      pipeline.push(epoch(samples, sampler));
      plan(SLOW_NANOS);
      plan(1);
      read();
      read(1);
      pipeline.pop(AT_ONCE).close();
      pipeline.pop(AT_ONCE).close();
      plan(1);
      long planned = count(Stage.PLAN);
      pipeline.push(epoch(samples, sampler));
      assertStarved();
      assertThat(count(Stage.PLAN)).isEqualTo(planned);
      plan(SLOW_NANOS);
      assertStarved();
      assertThat(count(Stage.READ)).isZero();
      pipeline.reset();
    }
  }

  @Test
  void repeatsAConsumersReadErrorInPlaceOfItsBatch() {
    pipeline.push(new PushedSource(List.of(1L, 2L, (long) Samples.ROWS, 3L).iterator(), 1, true));
    for (int i = 0; i < DEPTH; i++) {
      plan();
    }
    read(1);
    pipeline.pop(AT_ONCE).close();
    pipeline.pop(AT_ONCE).close();
    assertThat(count(Stage.READ)).isEqualTo(1);
    assertThatThrownBy(() -> pipeline.pop(AT_ONCE)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> pipeline.pop(AT_ONCE)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void consumerRunsNoBlockingSampler() {
    List<Consumer<Pipeline>> sources =
        List.of(
            to -> to.push(epoch(samples, new Blocking(false).batchSize(BATCH))),
            to -> to.push(new PushedSource(LongStream.range(0, 99).boxed().iterator(), 5, true)));
    for (Consumer<Pipeline> source : sources) {
      pipeline.reset();
      source.accept(pipeline);
      plan();
      long planned = count(Stage.PLAN);
      assertStarved();
      assertThat(count(Stage.PLAN)).isEqualTo(planned);
    }
    pipeline.reset();
    pipeline.push(epoch(samples, new Blocking(true).batchSize(BATCH)));
    plan();
    long planned = count(Stage.PLAN);
    assertStarved();
    assertThat(count(Stage.PLAN)).as("one that says that it never waits").isGreaterThan(planned);
  }

  private record Blocking(boolean neverWaits) implements Sampler {
    @Override
    public String describe() {
      return "blocking";
    }

    @Override
    public SampleOrder order(Epoch epoch) {
      return SampleOrder.of(LongStream.range(0, epoch.samples()).toArray());
    }
  }

  /** Only a batch that was asked for before it was ready counts, however late it is. */
  @Test
  void countsTrainerWaitsOnlyForBatchesNotReady() {
    pipeline.push(shuffled(samples));
    List<LoadedBatch> held = new ArrayList<>();
    for (int i = 0; i < DEPTH; i++) {
      plan();
    }
    for (int i = 0; i < DEPTH; i++) {
      read();
    }
    for (int i = 0; i < DEPTH; i++) {
      held.add(pipeline.pop(AT_ONCE));
    }
    assertThat(count(Stage.TRAINER_WAITS)).as("all were made ahead").isZero();
    assertThat(count(Stage.BATCH_WAITS)).isEqualTo(DEPTH);
    assertStarved();
    assertStarved();
    assertThat(count(Stage.TRAINER_WAITS)).as("it has nothing yet").isZero();
    read();
    held.add(pipeline.pop(AT_ONCE));
    assertThat(count(Stage.TRAINER_WAITS)).isEqualTo(1);
    assertThat(counters.all().get(Stage.TRAINER_WAITS.index()).totalNanos())
        .isGreaterThanOrEqualTo(2 * AT_ONCE.toNanos());
    assertThat(held).extracting(LoadedBatch::number).containsExactly(0L, 1L, 2L, 3L, 4L);
    held.forEach(LoadedBatch::close);
    plan();
    read();
    pipeline.pop(AT_ONCE).close();
    assertThat(count(Stage.TRAINER_WAITS)).isEqualTo(1);
  }

  /** It asks the clock when it has a slot, and before it catches what goes wrong with that. */
  @Test
  void freesMemoryLostByAFailedConsumer() {
    pipeline.push(shuffled(samples));
    plan(1);
    plan(1);
    read(1);
    takes(0); // the next that is planned comes in its memory
    noMemory = new OutOfMemoryError("as if");
    failsAndFreesAll(noMemory);
  }

  /** As of one that has no memory even for what it would give out. */
  @Test
  void freesMemoryLostByAFailedWorker() {
    pipeline.push(shuffled(samples));
    plan();
    read();
    takes(0);
    plan();
    assertThat(pipeline.nextToRead()).hasSize(1);
    Error error = new OutOfMemoryError("as if");
    pipeline.fail(error);
    failsAndFreesAll(error);
  }

  private void failsAndFreesAll(Error error) {
    assertThatThrownBy(() -> pipeline.pop(PATIENCE)).isSameAs(error);
    assertThatThrownBy(() -> pipeline.pop(PATIENCE)).isSameAs(error);
    pipeline.close();
    assertThat(OffHeapBuffer.liveBytes()).as("lost").isGreaterThan(bytesOfRows);
    pipeline.freeLost();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(bytesOfRows);
  }

  @Test
  void keepsAHeldBatchUntilItsConsumerClosesIt() {
    pipeline.push(shuffled(samples));
    plan();
    read();
    LoadedBatch held = pipeline.pop(PATIENCE);
    byte[] before = held.field("id").toByteArray();
    pipeline.close();
    pipeline.freeLost();
    assertThat(OffHeapBuffer.liveBytes()).isGreaterThan(bytesOfRows);
    assertThat(held.field("id").toByteArray()).isEqualTo(before);
    held.close();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(bytesOfRows);
  }
}
