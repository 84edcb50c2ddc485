// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The memory of all batches stays within its bound. */
@Timeout(120)
class LoaderMemoryTest extends OnSamples {
  @Test
  void keepsAllBatchesWithinTheBound() {
    long before = OffHeapBuffer.liveBytes();
    AtomicLong most = new AtomicLong();
    for (long maxBytes : new long[] {200_000, 400_000, 1 << 20}) {
      LoaderOptions options =
          LoaderOptions.defaults()
              .depth(20)
              .workers(3)
              .maxBytes(maxBytes)
              .fields("id", "image", "value")
              .cast("image", DType.FLOAT32)
              .transform(batch -> raise(most, OffHeapBuffer.liveBytes() - before));
      most.set(0);
      try (Loader loader = open(options)) {
        loader.push(endless(new AtomicLong()), 100);
        for (int i = 0; i < 60; i++) {
          LoadedBatch batch = loader.pop(PATIENCE);
          raise(most, OffHeapBuffer.liveBytes() - before);
          batch.close();
        }
      }
      assertThat(most.get()).as("bytes").isBetween(maxBytes / 3, maxBytes);
    }
  }

  /** The allocations of a transform are unknown before its first batch. */
  @Test
  void keepsTransformAllocationsWithinTheBoundFromTheFirst() {
    long before = OffHeapBuffer.liveBytes();
    AtomicLong most = new AtomicLong();
    long maxBytes = 1 << 20;
    LoaderOptions options =
        LoaderOptions.defaults()
            .depth(20)
            .workers(3)
            .maxBytes(maxBytes)
            .fields("id")
            .transform(
                batch -> {
                  batch.allocate("large", DType.FLOAT32, batch.samples(), 1000);
                  raise(most, OffHeapBuffer.liveBytes() - before);
                });
    try (Loader loader = open(options)) {
      loader.push(endless(new AtomicLong()), 100);
      for (int i = 0; i < 20; i++) {
        loader.pop(PATIENCE).close();
      }
    }
    assertThat(most.get()).as("bytes").isBetween(maxBytes / 3, maxBytes);
  }

  private static void raise(AtomicLong most, long bytes) {
    most.accumulateAndGet(bytes, Math::max);
  }

  /** A batch of long rows takes more than was thought: the next ones wait until there is room. */
  @Test
  void keepsRaggedBatchesWithinTheBoundOnceTheirSizeIsKnown() {
    long before = OffHeapBuffer.liveBytes();
    long maxBytes = 120_000;
    LoaderOptions options = LoaderOptions.defaults().depth(8).maxBytes(maxBytes).fields("points");
    try (Loader loader = open(options)) {
      List<Long> rows = new ArrayList<>();
      for (int batch = 0; batch < 60; batch++) {
        for (int i = 0; i < 600; i++) {
          rows.add(batch < 10 ? 5L * (i % 40) : 5L * (i % 40) + 4); // first empty, then the longest
        }
      }
      loader.push(rows.iterator(), 600);
      long most = 0;
      for (int i = 0; i < 60; i++) {
        try (LoadedBatch batch = loader.pop(PATIENCE)) {
          assertThat(batch.field("points").shape()[0]).isEqualTo(i < 10 ? 0 : 2400);
          if (i > 20) { // when it has learned
            most = Math.max(most, OffHeapBuffer.liveBytes() - before);
          }
        }
      }
      assertThat(most).isLessThanOrEqualTo(maxBytes);
    }
  }

  /** All are alike, and nothing of that is known before the first has been read. */
  @Test
  void keepsEqualRaggedBatchesWithinTheBoundFromTheFirst() {
    assertThat(mostBytesOfRagged(120_000, 0, 3)).as("bytes").isBetween(60_000L, 120_000L);
  }

  /** Those that were planned when all before were empty wait for each other. */
  @Test
  void growingRaggedBatchesExceedTheBoundByAtMostOne() {
    long oneBatch = mostBytesOfRagged(20_000, 0, 1);
    assertThat(mostBytesOfRagged(120_000, 10, 1)).isLessThanOrEqualTo(120_000 + oneBatch);
  }

  private long mostBytesOfRagged(long maxBytes, int emptyBatches, int workers) {
    long before = OffHeapBuffer.liveBytes();
    AtomicLong most = new AtomicLong();
    LoaderOptions options =
        LoaderOptions.defaults()
            .depth(8)
            .workers(workers)
            .maxBytes(maxBytes)
            .fields("points")
            .transform(batch -> raise(most, OffHeapBuffer.liveBytes() - before));
    try (Loader loader = open(options)) {
      loader.push(
          LongStream.range(0, 600 * 40)
              .map(i -> 5 * (i % 40) + (i < 600L * emptyBatches ? 0 : 4))
              .boxed()
              .iterator(),
          600);
      for (int i = 0; i < 40; i++) {
        awaitTrue(loader::isReady);
        raise(most, OffHeapBuffer.liveBytes() - before);
        try (LoadedBatch batch = loader.pop(PATIENCE)) {
          assertThat(batch.field("points").shape()[0]).isEqualTo(i < emptyBatches ? 0 : 2400);
        }
      }
    }
    return most.get();
  }

  /** The last batch has one row in the memory of a hundred: that says nothing about others. */
  @Test
  void smallLastBatchDoesNotStopReadAhead() {
    BatchSampler sampler = Samplers.shuffled(3).batchSize(101).everySample();
    LoaderOptions options = LoaderOptions.defaults().depth(2).maxBytes(1 << 20);
    try (Loader loader = Loader.open(samples.rows(), sampler, ALONE, options)) {
      for (int epoch = 0; epoch < 2; epoch++) {
        List<Integer> sizes = new ArrayList<>();
        loader.epoch(epoch).forEach(batch -> sizes.add(batch.samples()));
        assertThat(sizes).containsExactly(101, 101, 1);
      }
      assertThat(loader.epoch(2).next().samples()).isEqualTo(101);
      awaitTrue(() -> loader.pending() == 2);
    }
  }
}
