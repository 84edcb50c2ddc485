// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ShuffledSamplerTest {
  /** These must never change: states that were saved depend on them. */
  @Test
  void goldenOrders() {
    assertThat(Epochs.order(Samplers.shuffled(42), 8, 0))
        .containsExactly(5L, 3L, 2L, 6L, 4L, 0L, 1L, 7L);
    assertThat(Epochs.order(Samplers.shuffled(42), 8, 1))
        .containsExactly(4L, 1L, 7L, 0L, 5L, 3L, 2L, 6L);
    SampleOrder large = Samplers.shuffled(42).order(Sampler.Epoch.of(1_000_000_000, 7));
    assertThat(new long[] {large.at(0), large.at(1), large.at(999_999_999)})
        .containsExactly(523396112L, 957662771L, 215389371L);
  }

  @Test
  void matchesTheNaiveFormula() {
    Random random = new Random(11);
    for (int trial = 0; trial < 200; trial++) {
      long seed = random.nextLong();
      long epoch = random.nextInt(100);
      long size = 1 + (random.nextLong() >>> (20 + random.nextInt(40)));
      long position = (random.nextLong() >>> 1) % size;
      SampleOrder order = Samplers.shuffled(seed).order(Sampler.Epoch.of(size, epoch));
      assertThat(order.size()).isEqualTo(size);
      assertThat(order.at(position))
          .as("position %d of %d in epoch %d by %d", position, size, epoch, seed)
          .isEqualTo(naive(seed, size, epoch, position));
    }
  }

  /** In a row, from and to anywhere, also across the border of an odd epoch's halves. */
  @Test
  void fillMatchesSinglePositions() {
    Random random = new Random(12);
    for (int trial = 0; trial < 2000; trial++) {
      long size = 1 + (random.nextLong() >>> (3 + random.nextInt(61)));
      SampleOrder order = Samplers.shuffled(trial).order(Sampler.Epoch.of(size, random.nextInt(2)));
      int count = (int) Math.min(size, random.nextInt(150));
      long border = Math.max(0, size - size / 2 - random.nextInt(150));
      long first =
          Math.min(size - count, trial % 2 == 0 ? border : (random.nextLong() >>> 1) % size);
      long[] filled = new long[count + 1];
      filled[count] = -7;
      order.fill(first, filled, count);
      for (int i = 0; i < count; i++) {
        assertThat(filled[i])
            .as("position %d of %d by %d", first + i, size, trial)
            .isEqualTo(order.at(first + i));
      }
      assertThat(filled[count]).as("behind the last").isEqualTo(-7);
    }
  }

  /** Division by multiplication, at multiples of the divisor and beside them. */
  @Test
  void networkMatchesTheNaiveFormulaAtBoundaries() {
    for (long size : new long[] {1, 2, 3, 4, 5, 65_537, (1L << 61) - 1, 1L << 61}) {
      FeistelPermutation network = new FeistelPermutation(size, 9);
      long root = (long) Math.sqrt((double) size);
      for (long near = -2; near <= 2; near++) {
        for (long base : new long[] {0, root, 2 * root, size / 2 / root * root, size - 1}) {
          long position = Math.floorMod(base + near, size);
          long[] place = {position};
          network.replace(place, 0, 1);
          assertThat(place[0])
              .as("position %d of %d", position, size)
              .isEqualTo(network.at(position))
              .isEqualTo(NaivePermutation.network(size, NaivePermutation.unsigned(9), position));
        }
      }
    }
  }

  private static long naive(long seed, long size, long epoch, long position) {
    BigInteger even = NaivePermutation.key(seed, epoch / 2, 0, 0);
    if (epoch % 2 == 0) {
      return NaivePermutation.at(size, even, position);
    }
    long half = (size + 1) / 2;
    long in =
        position < half
            ? size
                - half
                + NaivePermutation.at(half, NaivePermutation.key(seed, epoch / 2, 0, 1), position)
            : NaivePermutation.at(
                size - half, NaivePermutation.key(seed, epoch / 2, 0, 2), position - half);
    return NaivePermutation.at(size, even, in);
  }

  /** The position of a sample is uniform over even epochs and over odd ones. */
  @Test
  void distributesSamplesUniformly() {
    int size = 30;
    long[][] even = new long[2][size * size];
    for (int epoch = 0; epoch < 20_000; epoch++) {
      SampleOrder order = Samplers.shuffled(5).order(Sampler.Epoch.of(size, epoch));
      for (int position = 0; position < size; position++) {
        even[epoch % 2][position * size + (int) order.at(position)]++;
      }
    }
    // (size - 1)^2 degrees of freedom: every row and every column of the table has a fixed sum.
    for (long[] counts : even) {
      assertThat(ChiSquare.equal(counts)).isLessThan(ChiSquare.limit((size - 1) * (size - 1)));
    }
  }

  @Test
  void seedsAndEpochsGiveDifferentOrders() {
    assertThat(Epochs.order(Samplers.shuffled(1), 1000, 0))
        .isNotEqualTo(Epochs.order(Samplers.shuffled(2), 1000, 0))
        .isNotEqualTo(Epochs.order(Samplers.shuffled(1), 1000, 1))
        .isNotEqualTo(Epochs.order(Samplers.shuffled(1), 1000, 2))
        .isEqualTo(Epochs.order(Samplers.shuffled(1), 1000, 0));
  }
}
