// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClassBalancedSamplerTest {
  private static long[] perClass(List<Long> rows, int[] labels, int classes) {
    long[] counts = new long[classes];
    rows.forEach(row -> counts[labels[row.intValue()]]++);
    return counts;
  }

  @Test
  void tinyWeightsDoNotExceedTheRowsOfAClass() {
    Sampler sampler = Samplers.classBalanced(1, 0, 0, 1, 1).weights(1e-310, 1e-310);
    assertThat(Epochs.order(sampler, 4, 0)).containsExactlyInAnyOrder(0L, 1L, 2L, 3L);
  }

  @Test
  void withoutReplacementDrawsTheSmallestClassSizeFromEachClass() {
    Random random = new Random(6);
    for (int trial = 0; trial < 200; trial++) {
      int classes = 1 + random.nextInt(5);
      int[] labels =
          IntStream.concat(
                  IntStream.range(0, classes), random.ints(random.nextInt(100), 0, classes))
              .toArray();
      long[] sizes = perClass(Epochs.upTo(labels.length), labels, classes);
      long scarcest = java.util.Arrays.stream(sizes).min().orElseThrow();
      Sampler sampler = Samplers.classBalanced(trial, labels);
      Set<Long> seen = new HashSet<>();
      long most = java.util.Arrays.stream(sizes).max().orElseThrow();
      for (int epoch = 0; epoch < (most + scarcest - 1) / scarcest; epoch++) {
        List<Long> rows = Epochs.order(sampler, labels.length, epoch);
        assertThat(rows).doesNotHaveDuplicates().hasSize((int) (scarcest * classes));
        assertThat(sampler.positions(labels.length)).isEqualTo(rows.size());
        assertThat(perClass(rows, labels, classes)).containsOnly(scarcest);
        seen.addAll(rows);
      }
      assertThat(seen).as("trial %d: every row has its turn", trial).hasSize(labels.length);
    }
  }

  @Test
  void appliesWeightsAndBlocksWithoutReplacement() {
    int[] labels = IntStream.range(0, 400).map(row -> row < 40 ? 0 : row < 160 ? 1 : 2).toArray();
    ClassBalancedSampler sampler = Samplers.classBalanced(1, labels).weights(1, 3, 0).blockRows(8);
    List<Long> rows = Epochs.order(sampler, 400, 2);
    assertThat(perClass(rows, labels, 3)).containsExactly(40, 120, 0);
    assertThat(rows).doesNotHaveDuplicates();
    for (int block = 0; block < rows.size() / 8; block++) {
      assertThat(rows.subList(8 * block, 8 * block + 8).stream().map(row -> labels[row.intValue()]))
          .as("classes of block %d", block)
          .containsOnly(labels[rows.get(8 * block).intValue()]);
    }
  }

  /** Else a class that was asked for would never come. */
  @Test
  void rejectsAClassSmallerThanABlock() {
    int[] labels = IntStream.range(0, 103).map(row -> row < 3 ? 0 : 1).toArray();
    ClassBalancedSampler sampler = Samplers.classBalanced(1, labels);
    assertThatThrownBy(() -> sampler.weights(1, 0.1).positions(103))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "class 1 (weight 0.1) has 0 rows in an epoch without replacement, less than a block of 1: raise its weight or set it to 0, use smaller blocks, or use withReplacement(..)");
    assertThatThrownBy(() -> sampler.weights(1, 3).blockRows(4).positions(103))
        .hasMessageStartingWith("class 0 (weight 1.0) has 3 rows")
        .hasMessageContaining("less than a block of 4");
    assertThat(sampler.weights(1, 3).blockRows(3).positions(103)).isEqualTo(12);
    assertThat(sampler.weights(0, 3).blockRows(4).positions(103)).isEqualTo(100);
    assertThat(sampler.weights(1, 0.1).withReplacement(7).positions(103)).isEqualTo(7);
  }

  /** One class a block by weights, and any row of it. */
  @Test
  void withReplacementFollowsWeightsAndDrawsRowsUniformly() {
    int[] labels = IntStream.range(0, 30).map(row -> row < 5 ? 0 : row < 10 ? 2 : 1).toArray();
    ClassBalancedSampler sampler =
        Samplers.classBalanced(9, labels).weights(2, 1, 1).blockRows(4).withReplacement(400_000);
    List<Long> rows = Epochs.order(sampler, 30, 3);
    assertThat(rows).hasSize(400_000);
    long[] blocks = new long[3];
    long[] ofRow = new long[30];
    for (int i = 0; i < rows.size(); i++) {
      int label = labels[rows.get(i).intValue()];
      assertThat(label).isEqualTo(labels[rows.get(i / 4 * 4).intValue()]);
      blocks[label] += i % 4 == 0 ? 1 : 0;
      ofRow[rows.get(i).intValue()]++;
    }
    assertThat(ChiSquare.of(blocks, new double[] {2, 1, 1})).isLessThan(ChiSquare.limit(2));
    for (int label = 0; label < 3; label++) {
      int wanted = label;
      long[] counts =
          IntStream.range(0, 30)
              .filter(row -> labels[row] == wanted)
              .mapToLong(row -> ofRow[row])
              .toArray();
      assertThat(ChiSquare.equal(counts)).isLessThan(ChiSquare.limit(counts.length - 1));
    }
  }

  @Test
  void rejectsInvalidLabelsAndWeights() {
    refused(() -> Samplers.classBalanced(1, 0, -1), "label -1 of row 1 outside [0, 2147483646]");
    refused(() -> Samplers.classBalanced(1, 0, 1).weights(1), "1 weights for the 2 classes [0, 2)");
    refused(
        () -> Samplers.classBalanced(1, 0, 2).weights(1, 1, 1),
        "class 1 has the weight 1.0 and no rows: give it 0");
    refused(
        () -> Epochs.order(Samplers.classBalanced(1, 0, 1), 3, 0),
        "3 samples, but 2 labels: give one for each");
  }

  private static void refused(Runnable call, String message) {
    assertThatThrownBy(call::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
