// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.Tensor;
import org.ddstore.memory.CountedPinning;
import org.ddstore.memory.HostMemory;
import org.ddstore.memory.RawAddress;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.SampleSpace;
import org.ddstore.types.DType;
import org.ddstore.types.PoolStarvedException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Batches come in the same few buffers, and in none that the consumer still has. */
@Timeout(120)
class PooledMemoryTest extends OnSamples {
  private static final List<String> FIELDS = List.of("id", "image", "value");
  private static final int BATCH = 10;

  private static int buffers(LoaderOptions options) {
    return options.depth() + 1;
  }

  private static LoaderOptions options(int depth, int workers) {
    return LoaderOptions.defaults()
        .depth(depth)
        .workers(workers)
        .fields(FIELDS.toArray(String[]::new));
  }

  private static long address(Tensor tensor) {
    return RawAddress.of(tensor.asByteBuffer());
  }

  private static List<Long> addresses(LoadedBatch batch) {
    return FIELDS.stream().map(name -> address(batch.field(name))).toList();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "3, 2", "8, 3"})
  void allEpochsShareBuffersRegisteredOnce(int depth, int workers) {
    LoaderOptions options =
        options(depth, workers)
            .cast("image", DType.FLOAT32)
            .transform(batch -> batch.allocate("own", DType.INT64, batch.samples()));
    AtomicInteger registered = new AtomicInteger();
    HostMemory memory = CountedPinning.memory(registered);
    Recipe recipe = Recipe.of(samples.rows(), SampleSpace.ROWS, options, memory);
    StageCounters counters = new StageCounters();
    Pipeline pipeline = new Pipeline(recipe, options, counters, System::nanoTime);
    LoaderThreads threads = new LoaderThreads(pipeline, counters, options);
    Map<String, Set<Long>> addresses = new HashMap<>();
    try {
      for (int epoch = 0; epoch < 5 * buffers(options); epoch++) {
        EpochBatches plan = SAMPLER.epoch(Samples.ROWS, ALONE, epoch);
        pipeline.push(new EpochSource(SAMPLER, plan, epoch, 0));
        for (int i = 0; i < plan.batches(); i++) {
          try (LoadedBatch batch = pipeline.pop(PATIENCE)) {
            note(addresses, "weights", batch.weights());
            note(addresses, "own", batch.field("own"));
            FIELDS.forEach(name -> note(addresses, name, batch.field(name)));
          }
        }
      }
    } finally {
      pipeline.close();
      threads.join(PATIENCE);
    }
    assertThat(addresses).hasSize(FIELDS.size() + 2);
    assertThat(addresses.values())
        .allSatisfy(used -> assertThat(used).hasSizeBetween(1, buffers(options)));
    assertThat(registered.get()).isLessThanOrEqualTo(addresses.size() * buffers(options));
  }

  private static void note(Map<String, Set<Long>> addresses, String name, Tensor tensor) {
    addresses.computeIfAbsent(name, added -> new HashSet<>()).add(address(tensor));
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "3, 2", "8, 3"})
  void neverOverwritesAHeldBatch(int depth, int workers) {
    try (Loader loader = open(options(depth, workers))) {
      loader.push(endless(new AtomicLong()), BATCH);
      loader.pop(PATIENCE).close();
      LoadedBatch held = loader.pop(PATIENCE);
      for (int i = 0; i < 20 * buffers(options(depth, workers)); i++) {
        try (LoadedBatch other = loader.pop(PATIENCE)) {
          assertThat(addresses(other)).doesNotContainAnyElementsOf(addresses(held));
        }
      }
      assertRows(held, BATCH);
      held.close();
    }
  }

  private static void assertRows(LoadedBatch batch, long first) {
    ByteArrayOutputStream images = new ByteArrayOutputStream();
    for (int i = 0; i < BATCH; i++) {
      int row = (int) ((first + i) % Samples.ROWS);
      images.writeBytes(Samples.image(row));
      assertThat(batch.field("id").getLong(i)).isEqualTo(row);
      for (int k = 0; k < 4; k++) {
        assertThat(batch.field("value").getFloat(4L * i + k)).isEqualTo(Samples.value(row)[k]);
      }
    }
    assertThat(batch.field("image").toByteArray()).isEqualTo(images.toByteArray());
  }

  /** A consumer that has all of the pool is given the next batch in what it gives back. */
  @ParameterizedTest
  @CsvSource({"1, 1", "3, 2", "8, 3"})
  void reusesTheBuffersOfAReturnedBatch(int depth, int workers) {
    LoaderOptions options = options(depth, workers);
    List<LoadedBatch> held = new ArrayList<>();
    Set<Long> all = new HashSet<>();
    try (Loader loader = open(options)) {
      loader.push(endless(new AtomicLong()), BATCH);
      for (int i = 0; i < buffers(options); i++) {
        held.add(loader.pop(PATIENCE));
        all.addAll(addresses(held.get(i)));
      }
      assertThat(all).as("each has its own").hasSize(FIELDS.size() * held.size());
      assertThatThrownBy(() -> loader.pop(AT_ONCE)).isInstanceOf(PoolStarvedException.class);
      for (int i = 0; i < held.size(); i++) {
        List<Long> before = addresses(held.get(i));
        held.get(i).close();
        held.set(i, loader.pop(PATIENCE));
        assertThat(addresses(held.get(i))).isEqualTo(before);
      }
      for (int i = 0; i < held.size(); i++) {
        assertRows(held.get(i), (long) (held.size() + i) * BATCH);
      }
      held.forEach(LoadedBatch::close);
    }
  }
}
