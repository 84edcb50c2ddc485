// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The number of requests that read batches of another process. */
@Timeout(120)
class TcpTogetherTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int ROWS = 600;
  private static final int ELEMENTS = 10;

  private TcpRanks ranks;
  private Variable rows;

  /** Rank 1 has all rows, rank 0 reads. */
  @BeforeEach
  void start() throws Exception {
    ranks =
        new TcpRanks(
            2,
            store -> {
              int count = store.rank() * ROWS;
              store.add("x", Tensor.wrap(numbers(0, count), count, ELEMENTS));
            });
    rows = ranks.store(0).variable("x");
  }

  private static long[] numbers(long first, int count) {
    long[] values = new long[count * ELEMENTS];
    Arrays.setAll(values, i -> first * ELEMENTS + i);
    return values;
  }

  @AfterEach
  void stop() {
    ranks.close();
  }

  private long requests() {
    return ranks.session(1).servedRequests();
  }

  private static void check(Tensor tensor, long... indices) {
    for (int i = 0; i < indices.length; i++) {
      assertThat(tensor.getLong((long) i * ELEMENTS)).isEqualTo(indices[i] * ELEMENTS);
      assertThat(tensor.getLong((i + 1L) * ELEMENTS - 1))
          .isEqualTo(indices[i] * ELEMENTS + ELEMENTS - 1);
    }
  }

  @Test
  void batchesReadTogetherTakeOneRequest() {
    List<long[]> indices = new ArrayList<>();
    for (int b = 0; b < 10; b++) {
      int batch = b;
      long[] of = new long[8];
      Arrays.setAll(of, i -> (batch * 37L + i * 11L) % ROWS);
      indices.add(of);
    }
    try (Reader reader = rows.reader()) {
      List<Batch> batches = indices.stream().map(none -> reader.getBatch()).toList();
      long before = requests();
      for (int b = 0; b < 10; b++) {
        reader.getBatch(batches.get(b), indices.get(b));
      }
      assertThat(requests() - before).as("requests one by one").isEqualTo(10);
      reader.getBatches(batches, indices);
      assertThat(requests() - before).as("and together").isEqualTo(11);
      for (int b = 0; b < 10; b++) {
        check(batches.get(b).field("x"), indices.get(b));
        batches.get(b).close();
      }
    }
  }

  /** A loader that is well ahead reads half of what it makes ahead together. */
  @Test
  void aLoaderReadsSmallBatchesTogether() {
    int depth = 8;
    LoaderOptions options = LoaderOptions.defaults().depth(depth).workers(1);
    long before = requests();
    long batches = 0;
    try (Loader loader =
        Loader.open(rows, Samplers.shuffled(1).batchSize(6), () -> new WorldRank(0, 1), options)) {
      for (LoadedBatch batch : loader.epoch(0)) {
        long[] indices = new long[batch.rows()];
        Arrays.setAll(indices, batch::row);
        check(batch.field("x"), indices);
        batches++;
        long left = ROWS / 6 - batches;
        await() // stands for a step that takes longer than a batch
            .pollInterval(Duration.ofMillis(1))
            .atMost(PATIENCE)
            .until(() -> left == 0 || loader.isReady());
      }
    }
    assertThat(batches).isEqualTo(100);
    assertThat(requests() - before).as("requests for 100 batches").isLessThanOrEqualTo(60);
  }
}
