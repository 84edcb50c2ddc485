// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WeightedSamplerTest {
  @Test
  void drawsRowsInProportionToTheirWeights() {
    Random random = new Random(4);
    for (int trial = 0; trial < 40; trial++) {
      double[] weights = new double[1 + random.nextInt(60)];
      for (int i = 0; i < weights.length; i++) {
        weights[i] =
            random.nextInt(4) == 0 ? 0 : Math.pow(10, random.nextInt(3)) * random.nextDouble();
      }
      weights[random.nextInt(weights.length)] = 1;
      long[] counts = new long[weights.length];
      Sampler sampler = Samplers.weighted(trial, 200_000, weights);
      for (long row : Epochs.order(sampler, weights.length, trial)) {
        counts[(int) row]++;
      }
      int degrees =
          (int) IntStream.range(0, weights.length).filter(i -> weights[i] > 0).count() - 1;
      assertThat(
              IntStream.range(0, weights.length)
                  .filter(i -> weights[i] == 0)
                  .mapToLong(i -> counts[i]))
          .as("rows of weight 0")
          .allMatch(count -> count == 0);
      assertThat(ChiSquare.of(counts, weights))
          .as("trial %d", trial)
          .isLessThanOrEqualTo(degrees == 0 ? 0 : ChiSquare.limit(degrees));
    }
  }

  @Test
  void withoutReplacementDrawsTheSmallestKeys() {
    Random random = new Random(5);
    for (int trial = 0; trial < 200; trial++) {
      double[] weights = random.doubles(1 + random.nextInt(80), 0, 3).map(Math::floor).toArray();
      weights[0] = 1;
      int possible = (int) IntStream.range(0, weights.length).filter(i -> weights[i] > 0).count();
      int draws = random.nextInt(possible + 1);
      long key = KeyedHash.key(trial, 6, 0);
      List<Long> naive = new ArrayList<>(Epochs.upTo(weights.length));
      naive.sort(
          Comparator.comparingDouble(
              row -> {
                double u = KeyedHash.open(KeyedHash.word(key, row));
                return -Math.log(u) / weights[row.intValue()];
              }));
      Sampler sampler = Samplers.weightedWithoutReplacement(trial, draws, weights);
      assertThat(Epochs.order(sampler, weights.length, 6)).isEqualTo(naive.subList(0, draws));
    }
  }

  /** The first row drawn comes in proportion to the weights, and the second to those left. */
  @Test
  void withoutReplacementTheFirstTwoFollowTheWeights() {
    double[] weights = {1, 2, 3, 4};
    long[] pairs = new long[16];
    double[] expected = new double[16];
    for (int epoch = 0; epoch < 100_000; epoch++) {
      Sampler sampler = Samplers.weightedWithoutReplacement(1, 2, weights);
      SampleOrder order = sampler.order(Sampler.Epoch.of(4, epoch));
      pairs[(int) (4 * order.at(0) + order.at(1))]++;
    }
    for (int i = 0; i < 16; i++) {
      int first = i / 4;
      int second = i % 4;
      expected[i] =
          first == second ? 0 : weights[first] / 10 * weights[second] / (10 - weights[first]);
    }
    assertThat(ChiSquare.of(pairs, expected)).isLessThan(ChiSquare.limit(11));
  }

  @Test
  void neverDrawsARowOfNegativeZeroWeight() {
    Sampler sampler = Samplers.weightedWithoutReplacement(1, 2, -0.0, 1, 2);
    assertThat(Epochs.order(sampler, 3, 0)).containsExactlyInAnyOrder(1L, 2L);
  }

  @Test
  void drawsEveryRowDespiteEqualKeys() {
    double[] tiny = new double[500];
    java.util.Arrays.fill(tiny, 1e300); // all keys are 0 but for rounding
    Sampler sampler = Samplers.weightedWithoutReplacement(1, 500, tiny);
    assertThat(Epochs.order(sampler, 500, 0)).containsExactlyInAnyOrderElementsOf(Epochs.upTo(500));
    java.util.Arrays.fill(tiny, 1e-310); // and here infinite
    assertThat(Epochs.order(Samplers.weightedWithoutReplacement(1, 500, tiny), 500, 0))
        .containsExactlyInAnyOrderElementsOf(Epochs.upTo(500));
  }

  @Test
  void rejectsInvalidWeightsAndDraws() {
    refused(() -> Samplers.weighted(1, 1, 1, -1), "weight -1.0 of number 1 outside [0, infinity)");
    refused(() -> Samplers.weighted(1, 1, Double.NaN), "weight NaN of number 0");
    refused(
        () -> Samplers.weighted(1, 1, 0, 0), "2 weights sum to 0.0: at least one must be above 0");
    refused(() -> Samplers.weighted(1, -1, 1), "-1 draws must be at least 0");
    refused(
        () -> Samplers.weightedWithoutReplacement(1, 3, 1, 0, 2),
        "3 draws without replacement outside [0, 2], the rows of a weight above 0");
    refused(
        () -> Epochs.order(Samplers.weighted(1, 1, 1, 1), 3, 0),
        "3 samples, but 2 weights: give one for each");
  }

  private static void refused(Runnable call, String message) {
    assertThatThrownBy(call::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
