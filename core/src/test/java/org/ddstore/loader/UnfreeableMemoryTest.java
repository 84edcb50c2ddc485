// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.ddstore.memory.HostMemory;
import org.ddstore.memory.StuckPinning;
import org.ddstore.sampling.SampleSpace;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory that a driver does not let go of: it is an error, and no thread waits for it. */
@Timeout(120)
class UnfreeableMemoryTest extends OnSamples {
  private static final int SMALL = 10;
  private static final int LARGE = 2000;

  private final AtomicBoolean isStuck = new AtomicBoolean();
  private final StageCounters counters = new StageCounters();
  private Pipeline pipeline;
  private LoaderThreads threads;

  @AfterEach
  void stop() {
    isStuck.set(false);
    pipeline.close();
    threads.join(PATIENCE);
  }

  private void start(int depth) {
    HostMemory memory = StuckPinning.memory(isStuck);
    LoaderOptions options = LoaderOptions.defaults().depth(depth).fields("image", "id");
    Recipe recipe = Recipe.of(samples.rows(), SampleSpace.ROWS, options, memory);
    options = options.maxBytes(recipe.capacityBytes(LARGE));
    pipeline = new Pipeline(recipe, options, counters, System::nanoTime);
    threads = new LoaderThreads(pipeline, counters, options);
  }

  private void push(int batches, int size) {
    pipeline.push(
        new PushedSource(
            LongStream.range(0, (long) batches * size)
                .map(i -> i % Samples.ROWS)
                .boxed()
                .iterator(),
            size,
            true));
  }

  private void use(int slots) {
    push(slots, SMALL);
    List<LoadedBatch> held = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      held.add(pipeline.pop(PATIENCE));
    }
    held.forEach(LoadedBatch::close);
  }

  @Test
  void popRepeatsTheErrorOfAFailedFree() {
    start(2);
    use(3);
    isStuck.set(true);
    push(1, LARGE);
    Throwable[] first = new Throwable[1];
    assertThatThrownBy(() -> pipeline.pop(PATIENCE))
        .isInstanceOf(DDStoreException.class)
        .hasMessage(StuckPinning.MESSAGE)
        .satisfies(thrown -> first[0] = thrown);
    assertThatThrownBy(() -> pipeline.pop(PATIENCE)).isSameAs(first[0]);
    assertThatThrownBy(() -> push(1, SMALL)).isSameAs(first[0]);
  }

  @Test
  void closeThatCannotFreeEndsAllWaits() throws Exception {
    start(4);
    use(5);
    CompletableFuture<LoadedBatch> waiting =
        CompletableFuture.supplyAsync(() -> pipeline.pop(PATIENCE));
    isStuck.set(true);
    assertThatThrownBy(() -> pipeline.close())
        .isInstanceOf(DDStoreException.class)
        .hasMessage(StuckPinning.MESSAGE);
    threads.join(PATIENCE);
    assertThatThrownBy(() -> waiting.get(1, TimeUnit.MINUTES))
        .hasRootCauseInstanceOf(IllegalStateException.class)
        .hasRootCauseMessage("closed: the loader");
    pipeline.checkFreed();
  }

  @Test
  void reportsMemoryNotFreedAfterTheClose() {
    start(1);
    push(2, SMALL);
    LoadedBatch held = pipeline.pop(PATIENCE);
    pipeline.close();
    threads.join(PATIENCE);
    isStuck.set(true);
    assertThatThrownBy(held::close).hasMessage(StuckPinning.MESSAGE);
    pipeline.fail(new DDStoreException("of a thread"));
    assertThatThrownBy(() -> pipeline.checkFreed())
        .isInstanceOf(DDStoreException.class)
        .hasMessage("memory of a closed loader could not be freed")
        .hasRootCauseMessage("of a thread");
    assertThat(held.toString()).isEqualTo("LoadedBatch[epoch 0, number 0, 10 samples]");
  }
}
