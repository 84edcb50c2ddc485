package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.ddstore.PoolStarvedException;
import org.ddstore.memory.HostMemory;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.SampleOrder;
import org.ddstore.sampling.SampleSpace;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread does what planner, worker and consumer do, in an order that is chosen. */
@Timeout(120)
class PipelineByHandTest {
  private static final int BATCH = 10;
  private static final int DEPTH = 4;
  private static final Duration AT_ONCE = Duration.ofMillis(1);
  private static final LoaderOptions OPTIONS =
      LoaderOptions.defaults().withDepth(DEPTH).withWorkers(2).withPinnedMemory(false);

  private final StageCounters counters = new StageCounters();
  private Samples samples;
  private Pipeline pipeline;

  @BeforeEach
  void open() {
    samples = new Samples();
    Recipe recipe =
        Recipe.of(
            samples.rows(), SampleSpace.ROWS, OPTIONS.withFields("id"), HostMemory.plain("a test"));
    pipeline = new Pipeline(recipe, OPTIONS, counters);
  }

  @AfterEach
  void close() throws Exception {
    pipeline.close();
    samples.close();
  }

  private static EpochSource epoch(Samples of, BatchSampler sampler) {
    return new EpochSource(sampler, sampler.epoch(of.rows().rows(), new WorldRank(0, 1), 0), 0, 0);
  }

  /** Plans a batch in no time. */
  private void plan() {
    Entry entry = pipeline.nextToPlan();
    pipeline.planned(entry, entry.plan(counters), null, 1);
  }

  /** Reads what may be read together, in no time. */
  private void read() {
    for (Entry entry : pipeline.nextToRead()) {
      Slot slot = entry.slot();
      Slot.readRows(List.of(slot));
      slot.convert();
      pipeline.made(entry, new LoadedBatch(slot, () -> pipeline.giveBack(slot)), null, 1);
    }
  }

  private long count(Stage stage) {
    return counters.all().get(stage.index()).count();
  }

  private void starves() {
    assertThatThrownBy(() -> pipeline.pop(AT_ONCE)).isInstanceOf(PoolStarvedException.class);
  }

  @Test
  void aConsumerThatFindsNothingReadyPlans() {
    pipeline.push(epoch(samples, Samplers.shuffled(1).batchSize(BATCH)));
    starves();
    assertThat(count(Stage.PLAN)).as("how long it takes is not known").isZero();
    plan();
    starves();
    assertThat(count(Stage.PLAN)).as("as many as its workers need").isEqualTo(4);
  }

  @Test
  void aConsumerRunsNoSamplerThatMayWait() {
    List<Consumer<Pipeline>> sources =
        List.of(
            to -> to.push(epoch(samples, new Blocking(false).batchSize(BATCH))),
            to -> to.push(new PushedSource(LongStream.range(0, 99).boxed().iterator(), 5, true)));
    for (Consumer<Pipeline> source : sources) {
      pipeline.reset();
      source.accept(pipeline);
      plan();
      long planned = count(Stage.PLAN);
      starves();
      assertThat(count(Stage.PLAN)).isEqualTo(planned);
    }
    pipeline.reset();
    pipeline.push(epoch(samples, new Blocking(true).batchSize(BATCH)));
    plan();
    long planned = count(Stage.PLAN);
    starves();
    assertThat(count(Stage.PLAN)).as("one that says that it never waits").isGreaterThan(planned);
  }

  /** A user's sampler. */
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
  void aTrainerWaitsForWhatIsNotReadyWhenItAsks() {
    pipeline.push(epoch(samples, Samplers.shuffled(1).batchSize(BATCH)));
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
    starves();
    starves();
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
}
