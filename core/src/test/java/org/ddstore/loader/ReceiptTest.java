// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Receipts that combine the coverage of all ranks. */
@Timeout(120)
class ReceiptTest extends OnSamples {
  private static final int WORLD = 3;

  private CoverageReceipt receipt(BatchSampler sampler, Consumer<Loader> rank0) throws Exception {
    List<Communicator> group = LocalGroup.create(WORLD, Duration.ofMinutes(1));
    ExecutorService threads = Executors.newFixedThreadPool(WORLD);
    try {
      List<Future<CoverageReceipt>> receipts = new ArrayList<>();
      for (int rank = 0; rank < WORLD; rank++) {
        int r = rank;
        receipts.add(
            threads.submit(
                () -> {
                  WorldRank place = new WorldRank(r, WORLD);
                  try (Communicator mine = group.get(r);
                      Loader loader =
                          Loader.open(samples.rows(), sampler, place, LoaderOptions.defaults())) {
                    if (r == 0) {
                      rank0.accept(loader);
                    } else {
                      loader.epoch(4).forEach(batch -> {});
                    }
                    CoverageReceipt receipt = loader.receipt(mine);
                    assertThat(loader.receipt(mine)).as("asked again").isEqualTo(receipt);
                    assertThat(loader.utilisation(mine)).isGreaterThan(0).isLessThanOrEqualTo(1);
                    return receipt;
                  }
                }));
      }
      CoverageReceipt first = receipts.get(0).get();
      for (Future<CoverageReceipt> other : receipts) {
        assertThat(other.get()).isEqualTo(first);
      }
      return first;
    } finally {
      threads.shutdown();
      assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }
  }

  @Test
  void provesACompleteEpochExact() throws Exception {
    assertThat(
            receipt(Samplers.shuffled(1).batchSize(10), loader -> loader.epoch(4).forEach(b -> {})))
        .hasToString("203 samples, each at most once; 180 delivered, 23 dropped, 0 padded");
    assertThat(
            receipt(
                Samplers.chunked(1, 10, 3).batchSize(10).evaluation(),
                loader -> loader.epoch(4).forEach(b -> {})))
        .hasToString("203 samples, each exactly once; 203 delivered, 0 dropped, 7 padded");
    assertThat(
            receipt(
                Samplers.windows(4, 3, 2, Samplers.shuffled(1)).batchSize(7).everySample(),
                loader -> loader.epoch(4).forEach(b -> {})))
        .hasToString("66 samples, each exactly once; 66 delivered, 0 dropped, 0 padded");
  }

  @Test
  void provesAResumedEpochExact() throws Exception {
    assertThat(
            receipt(
                Samplers.shuffled(1).batchSize(10).everySample(),
                loader -> {
                  EpochLoop loop = loader.epoch(4);
                  loop.next();
                  loop.next();
                  loader.resume(loader.state()).forEach(batch -> {});
                }))
        .hasToString("203 samples, each exactly once; 203 delivered, 0 dropped, 0 padded");
  }

  @Test
  void rejectsRanksInDifferentEpochs() {
    BatchSampler sampler = Samplers.shuffled(1).batchSize(10);
    assertThatThrownBy(() -> receipt(sampler, loader -> loader.epoch(3)))
        .isInstanceOf(ExecutionException.class)
        .rootCause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "epoch mismatch: rank 1 is at \"epoch 4 of 203 rows, shuffled(1)/30\", rank 0 at \"epoch 3 of 203 rows, shuffled(1)/30\"");
  }

  @Test
  void failsOnAllRanksIfOneHasNoEpoch() {
    BatchSampler sampler = Samplers.shuffled(1).batchSize(10);
    assertThatThrownBy(() -> receipt(sampler, loader -> {}))
        .isInstanceOf(ExecutionException.class)
        .rootCause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("no epoch was begun on Loader[");
  }

  @Test
  void countsUnconsumedSamplesAsLost() throws Exception {
    CoverageReceipt receipt =
        receipt(
            Samplers.sequential().batchSize(10),
            loader -> {
              EpochLoop loop = loader.epoch(4);
              while (loop.remaining() > 1) {
                loop.next();
              }
            });
    assertThat(receipt.isExact()).isFalse();
    assertThat(receipt.lost()).isEqualTo(10);
    assertThat(receipt.delivered()).isEqualTo(170);
    assertThat(receipt.wrong().get(0).toString()).matches("sample \\d+ lost");
  }

  @Test
  void countsSamplesRepeatedByReplacement() throws Exception {
    double[] weights = new double[Samples.ROWS];
    java.util.Arrays.fill(weights, 1);
    CoverageReceipt receipt =
        receipt(
            Samplers.weighted(1, Samples.ROWS, weights).batchSize(10).everySample(),
            loader -> loader.epoch(4).forEach(batch -> {}));
    assertThat(receipt.repeated()).isGreaterThan(20).isEqualTo(receipt.lost());
  }
}
