// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An epoch does not depend on the number of ranks, and can be gone on with anywhere. */
class ElasticTest {
  private static final int ROWS = 1003;
  private static final int GLOBAL = 48;
  private static final int[] WORLDS = {1, 2, 3, 4, 8};

  static Stream<Sampler> samplers() {
    int[] labels = IntStream.range(0, ROWS).map(row -> row % 7 == 0 ? 1 : 0).toArray();
    double[] weights = IntStream.range(0, ROWS).mapToDouble(row -> row % 5).toArray();
    Field image = Field.fixed("image", DType.UINT8, 8, 8);
    return Stream.of(
        Samplers.sequential(),
        Samplers.shuffled(42),
        Samplers.chunked(42, 16, 12),
        Samplers.weighted(42, 500, weights),
        Samplers.weightedWithoutReplacement(42, 500, weights),
        Samplers.classBalanced(42, labels),
        Samplers.classBalanced(42, labels).blockRows(4).withReplacement(300),
        Samplers.windows(4, 2, 3, Samplers.shuffled(42)),
        Samplers.tiles(Samplers.shuffled(42), image, 4, 4),
        Samplers.randomCrops(42, Samplers.shuffled(42), image, 4, 4));
  }

  @ParameterizedTest
  @MethodSource("samplers")
  void theGlobalBatchesAreTheSameForAnyNumberOfRanks(Sampler sampler) {
    for (Batching batching :
        List.of(
            sampler.globalBatchSize(GLOBAL),
            sampler.globalBatchSize(GLOBAL).everySample(),
            sampler.globalBatchSize(GLOBAL).evaluation())) {
      for (int epoch = 0; epoch < 3; epoch++) {
        List<Long> expected = Epochs.ofAll(batching, ROWS, 1, epoch);
        assertThat(expected).isNotEmpty();
        for (int world : WORLDS) {
          assertThat(Epochs.ofAll(batching, ROWS, world, epoch))
              .as("%s on %d ranks", batching.describe(world), world)
              .isEqualTo(expected);
          assertThat(
                  Epochs.byBatch(batching.distribution(Distribution.STRIDED), ROWS, world, epoch))
              .as("strided on %d ranks", world)
              .isEqualTo(Epochs.byBatch(batching, ROWS, 1, epoch));
        }
      }
    }
  }

  /** As ranks that begin anew do: each batch asked for first, and the rest from there on. */
  @ParameterizedTest
  @MethodSource("samplers")
  void resumesFromEveryBatch(Sampler sampler) {
    for (Distribution distribution : Distribution.values()) {
      boolean divisible = sampler.positions(ROWS) == ROWS && sampler.positions(0) == 0;
      if (distribution == Distribution.CONTIGUOUS && !divisible) {
        continue;
      }
      Batching batching = sampler.globalBatchSize(GLOBAL).distribution(distribution);
      WorldRank place = new WorldRank(1, 3);
      EpochBatches inOrder = batching.epoch(ROWS, place, 1);
      List<List<Long>> expected = new ArrayList<>();
      for (long batch = 0; batch < inOrder.batches(); batch++) {
        expected.add(Epochs.samples(inOrder, batch));
      }
      for (int from = expected.size() - 1; from >= 0; from--) {
        EpochBatches resumed = batching.epoch(ROWS, place, 1);
        for (int batch = from; batch < expected.size(); batch++) {
          assertThat(Epochs.samples(resumed, batch)).isEqualTo(expected.get(batch));
        }
      }
    }
  }
}
