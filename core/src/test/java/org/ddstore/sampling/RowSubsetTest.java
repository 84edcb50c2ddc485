// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Sets of rows, compared with {@link BitSet}. */
class RowSubsetTest {
  private static final int ROWS = 20_000;

  static Stream<BitSet> masks() {
    long seed = new Random().nextLong();
    System.out.println("seed of RowSubsetTest: " + seed);
    Random random = new Random(seed);
    Stream<BitSet> drawn =
        Stream.of(0.0, 0.0005, 0.01, 0.1, 0.5, 0.99, 1.0)
            .map(share -> drawn(random, 0, ROWS, share));
    BitSet alternating = drawn(random, 0, 9000, 0.5);
    alternating.set(15_000, ROWS);
    BitSet late = drawn(random, ROWS - 100, ROWS, 0.5);
    BitSet one = new BitSet();
    one.set(63, 129);
    return Stream.concat(drawn, Stream.of(alternating, late, one, new BitSet()));
  }

  private static BitSet drawn(Random random, int first, int end, double share) {
    BitSet set = new BitSet();
    for (int row = first; row < end; row++) {
      set.set(row, random.nextDouble() < share);
    }
    return set;
  }

  private static RowSubset of(BitSet set) {
    return RowSubset.matching(ROWS, row -> set.get((int) row));
  }

  private static List<Long> rows(RowSubset subset) {
    return LongStream.range(0, subset.size()).map(subset::row).boxed().toList();
  }

  private static List<Long> rows(BitSet set) {
    return set.stream().asLongStream().boxed().toList();
  }

  @ParameterizedTest
  @MethodSource("masks")
  void hasTheRowsOfItsMask(BitSet set) {
    RowSubset subset = of(set);
    assertThat(subset.size()).isEqualTo(set.cardinality());
    assertThat(subset.end()).isEqualTo(set.length());
    assertThat(rows(subset)).isEqualTo(rows(set));
    for (int row = -1; row < ROWS + 200; row++) {
      assertThat(subset.contains(row)).as("row %d", row).isEqualTo(row >= 0 && set.get(row));
    }
    assertThatThrownBy(() -> subset.row(subset.size()))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> subset.row(-1)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @ParameterizedTest
  @MethodSource("masks")
  void complementHasTheOtherRows(BitSet set) {
    BitSet others = (BitSet) set.clone();
    others.flip(0, ROWS);
    assertThat(rows(of(set).complement(ROWS))).isEqualTo(rows(others));
    assertThat(of(set).complement(ROWS).complement(ROWS)).isEqualTo(of(set));
    assertThat(of(set).complement(100).end()).isLessThanOrEqualTo(100);
  }

  @ParameterizedTest
  @MethodSource("masks")
  void andHasTheRowsOfBoth(BitSet set) {
    masks()
        .forEach(
            other -> {
              BitSet both = (BitSet) set.clone();
              both.and(other);
              assertThat(rows(of(set).and(of(other)))).isEqualTo(rows(both));
            });
  }

  @ParameterizedTest
  @MethodSource("masks")
  void equalSetsAreEqualHoweverTheyAreMade(BitSet set) {
    RowSubset subset = of(set);
    boolean[] mask = new boolean[ROWS + 1];
    set.stream().forEach(row -> mask[row] = true);
    long[] bounds = new long[2 * ROWS];
    int used = 0;
    for (int row = set.nextSetBit(0); row >= 0; row = set.nextSetBit(row + 1)) {
      bounds[used++] = row; // ranges of one row, which join
      bounds[used++] = row + 1L;
    }
    List<RowSubset> same =
        List.of(
            RowSubset.mask(mask),
            RowSubset.ranges(LongStream.of(bounds).limit(used).toArray()),
            subset.and(RowSubset.range(0, 2L * ROWS)));
    for (RowSubset other : same) {
      assertThat(other).isEqualTo(subset).hasSameHashCodeAs(subset).hasToString(subset.toString());
      assertThat(other.describe()).isEqualTo(subset.describe());
    }
    RowSubset more = RowSubset.matching(ROWS + 1, row -> set.get((int) row) || row == ROWS);
    assertThat(more).isNotEqualTo(subset);
    assertThat(more.describe()).isNotEqualTo(subset.describe());
  }

  @Test
  void describesRangesInWords() {
    assertThat(RowSubset.range(0, 8000)).hasToString("rows [0, 8,000)");
    assertThat(RowSubset.range(0, 8000).describe()).isEqualTo("0-8000");
    assertThat(RowSubset.ranges(0, 10, 20, 8000)).hasToString("7,990 rows in [0, 8,000)");
    assertThat(RowSubset.ranges(0, 10, 20, 8000).describe()).isEqualTo("7990 of b025a12786e9b24c");
    assertThat(RowSubset.mask(true, false, true).describe()).isEqualTo("2 of 7716da39cba275b2");
    assertThat(RowSubset.range(7, 8).describe()).isEqualTo("7-8");
    assertThat(RowSubset.ranges()).hasToString("rows [0, 0)");
  }

  @Test
  void rangesOfManyRowsTakeNoMemoryPerRow() {
    long many = 1L << 60;
    RowSubset subset = RowSubset.ranges(5, many, many + 7, many + 9);
    assertThat(subset.size()).isEqualTo(many - 5 + 2);
    assertThat(subset.row(many - 5)).isEqualTo(many + 7);
    assertThat(subset.contains(many)).isFalse();
    assertThat(rows(subset.complement(many + 10)))
        .containsExactly(
            0L, 1L, 2L, 3L, 4L, many, many + 1, many + 2, many + 3, many + 4, many + 5, many + 6,
            many + 9);
  }

  @Test
  void rejectsIllegalRanges() {
    assertThatThrownBy(() -> RowSubset.ranges(1, 2, 3))
        .hasMessage("3 bounds of ranges of rows: give the first row and the end of each range");
    for (long[] bounds : new long[][] {{-1, 2}, {3, 2}, {0, 5, 4, 6}}) {
      assertThatThrownBy(() -> RowSubset.ranges(bounds))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("give ranges in ascending order");
    }
    assertThatThrownBy(() -> RowSubset.matching(-1, row -> true))
        .hasMessage("-1 rows: must be at least 0");
    assertThatThrownBy(() -> RowSubset.range(0, 1).complement(-1))
        .hasMessage("-1 rows: must be at least 0");
  }
}
