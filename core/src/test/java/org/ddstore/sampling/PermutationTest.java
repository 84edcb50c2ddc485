// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.BitSet;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PermutationTest {
  private static final long TRILLION = 1_000_000_000_000L;

  private static void assertBijection(Permutation permutation) {
    int size = (int) permutation.size();
    BitSet seen = new BitSet(size);
    for (int i = 0; i < size; i++) {
      long number = permutation.at(i);
      assertThat(number >= 0 && number < size).as("%d of %d", number, size).isTrue();
      seen.set((int) number);
    }
    assertThat(seen.cardinality()).isEqualTo(size);
  }

  @Test
  void isABijectionForEverySmallSize() {
    for (int size = 0; size <= 5000; size++) {
      assertBijection(Permutation.keyed(size, size * 31L));
    }
  }

  /** The network itself, also where it is not used: there its halves are small and uneven. */
  @Test
  void networkIsABijectionForEverySmallSize() {
    for (int size = 1; size <= 3000; size++) {
      assertBijection(new FeistelPermutation(size, size * 17L));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {65_535, 65_536, 65_537, 65_792, 65_793, 99_991, 131_073, 1_048_577})
  void isABijectionAroundTableAndPowerOfTwoSizes(int size) {
    assertBijection(Permutation.keyed(size, 5));
  }

  @Test
  void permutesATrillionWithoutRepeats() {
    Permutation permutation = Permutation.keyed(TRILLION, 99);
    Set<Long> seen = new HashSet<>();
    long[] tenths = new long[10];
    for (long i = 0; i < 200_000; i++) {
      long position = i % 2 == 0 ? i : TRILLION - i;
      long number = permutation.at(position);
      assertThat(number).isBetween(0L, TRILLION - 1);
      assertThat(seen.add(number)).as("%d comes twice", number).isTrue();
      tenths[(int) (number / (TRILLION / 10))]++;
    }
    assertThat(ChiSquare.equal(tenths)).isLessThan(ChiSquare.limit(9));
  }

  @Test
  void matchesTheNaiveFormula() {
    Random random = new Random(7);
    for (int trial = 0; trial < 300; trial++) {
      long key = random.nextLong();
      long large = (random.nextLong() >>> (3 + random.nextInt(43))) + Permutation.MOST_IN_TABLE + 1;
      long position = (random.nextLong() >>> 1) % large;
      assertThat(Permutation.keyed(large, key).at(position))
          .as("%d of %d by %d", position, large, key)
          .isEqualTo(NaivePermutation.network(large, NaivePermutation.unsigned(key), position));
      int small = 1 + random.nextInt(300);
      Permutation table = Permutation.keyed(small, key);
      assertThat(LongStream.range(0, small).map(table::at).boxed().toList())
          .isEqualTo(NaivePermutation.table(small, NaivePermutation.unsigned(key)));
    }
  }

  /** Looked up for sides up to 2^14, computed above: both give what one place alone gives. */
  @ParameterizedTest
  @ValueSource(longs = {2, 3, 5, 12, 1000, 65_537, 500_009, 1L << 28, (1L << 28) + 1, TRILLION})
  void replaceMatchesSingleLookups(long size) {
    Permutation permutation = new FeistelPermutation(size, size * 13);
    Random random = new Random(size);
    for (int count : new int[] {0, 1, 31, 511, 512, 513, 1500}) {
      long[] places = random.longs(count + 7, 0, size).toArray();
      long[] expected = places.clone();
      for (int i = 3; i < 3 + count; i++) {
        expected[i] = permutation.at(places[i]);
      }
      permutation.replace(places, 3, count);
      assertThat(places).isEqualTo(expected);
    }
  }

  /** These must never change: states that were saved depend on them. */
  @Test
  void goldenValues() {
    assertThat(first(10, 42, 10)).containsExactly(5, 7, 0, 9, 3, 2, 6, 8, 4, 1);
    assertThat(first(100_000, 42, 6)).containsExactly(81667, 7329, 40520, 60219, 55004, 74467);
    assertThat(first(TRILLION, 42, 6))
        .containsExactly(
            289912662905L,
            45159723165L,
            130711582327L,
            211263153452L,
            196506744035L,
            924023209013L);
  }

  private static long[] first(long size, long key, int count) {
    return LongStream.range(0, count).map(Permutation.keyed(size, key)::at).toArray();
  }

  /** Small tables: all 120 orders of five numbers are equally likely over the keys. */
  @Test
  void everyOrderOfFiveIsEquallyLikely() {
    long[] counts = new long[5 * 5 * 5 * 5 * 5];
    for (int key = 0; key < 120_000; key++) {
      int code = 0;
      for (long number : first(5, KeyedHash.key(1, key), 5)) {
        code = code * 5 + (int) number;
      }
      counts[code]++;
    }
    long[] met = LongStream.of(counts).filter(count -> count > 0).toArray();
    assertThat(met).hasSize(120);
    assertThat(ChiSquare.equal(met)).isLessThan(ChiSquare.limit(119));
  }

  /**
   * The network: where a number goes, and how far apart neighbours come to lie, is even over keys
   * and positions.
   */
  @Test
  void theNetworkSpreadsNumbersAndNeighboursEvenly() {
    long size = 1_000_003;
    int bins = 50;
    long[] place = new long[bins];
    long[] distance = new long[bins];
    long[] together = new long[bins * bins];
    for (int key = 0; key < 50; key++) {
      Permutation permutation = Permutation.keyed(size, KeyedHash.key(2, key));
      for (int i = 0; i < 10_000; i++) {
        long here = permutation.at(i);
        long next = permutation.at(i + 1);
        place[(int) (here * bins / size)]++;
        distance[(int) (Math.floorMod(next - here, size) * bins / size)]++;
        together[(int) (here * bins / size) * bins + (int) (next * bins / size)]++;
      }
    }
    assertThat(ChiSquare.equal(place)).isLessThan(ChiSquare.limit(bins - 1));
    assertThat(ChiSquare.equal(distance)).isLessThan(ChiSquare.limit(bins - 1));
    assertThat(ChiSquare.equal(together)).isLessThan(ChiSquare.limit(bins * bins - 1));
  }

  @Test
  void rejectsSizesOutOfRange() {
    for (long size : new long[] {-1, (1L << 61) + 1}) {
      assertThatThrownBy(() -> Permutation.keyed(size, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("outside [0, 2,305,843,009,213,693,952]");
    }
    assertThat(Permutation.keyed(1L << 61, 3).at((1L << 61) - 1)).isBetween(0L, (1L << 61) - 1);
  }
}
