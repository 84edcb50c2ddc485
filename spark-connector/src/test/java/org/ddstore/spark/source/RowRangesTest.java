// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Sets of rows against plain bit sets. */
class RowRangesTest {
  private static final int ROWS = 60;

  private static RowRanges random(Random random) {
    return RowRanges.of(random.longs(random.nextInt(40), 0, ROWS).toArray());
  }

  private static BitSet bits(RowRanges ranges) {
    BitSet bits = new BitSet();
    for (int run = 0; run < ranges.size(); run++) {
      assertThat(ranges.from(run)).as("begin of a run").isLessThan(ranges.to(run));
      if (run > 0) {
        assertThat(ranges.from(run)).as("runs do not touch").isGreaterThan(ranges.to(run - 1));
      }
      bits.set((int) ranges.from(run), (int) ranges.to(run));
    }
    return bits;
  }

  @Test
  void operationsMatchThoseOfBitSets() {
    Random random = new Random(1);
    for (int round = 0; round < 500; round++) {
      RowRanges one = random(random);
      RowRanges other = random(random);
      BitSet and = bits(one);
      and.and(bits(other));
      BitSet or = bits(one);
      or.or(bits(other));
      BitSet not = new BitSet();
      not.set(0, ROWS);
      not.andNot(bits(one));

      assertThat(bits(one.and(other))).isEqualTo(and);
      assertThat(bits(one.or(other))).isEqualTo(or);
      assertThat(bits(one.except(ROWS))).isEqualTo(not);
      assertThat(one.except(ROWS).except(ROWS)).isEqualTo(one);
      assertThat(one.rows()).isEqualTo(bits(one).cardinality());
      int from = random.nextInt(ROWS);
      int to = random.nextInt(ROWS);
      assertThat(one.within(from, to)).isEqualTo(one.and(RowRanges.between(from, to)));
      int count = random.nextInt(ROWS);
      assertThat(one.first(count).rows()).isEqualTo(Math.min(count, one.rows()));
      assertThat(one.first(count).or(one.skip(count))).isEqualTo(one);
      assertThat(one.first(count).and(one.skip(count))).isEqualTo(RowRanges.NONE);
    }
  }

  @Test
  void mergesRepeatsAndNeighbours() {
    RowRanges ranges = RowRanges.of(9, 3, 4, 3, 5);
    assertThat(ranges).hasToString("[3, 6) [9, 10) 4 rows");
    assertThat(RowRanges.between(5, 5)).isEqualTo(RowRanges.NONE);
    assertThat(RowRanges.of(0, 2, 4, 6, 8, 10))
        .hasToString("[0, 1) [2, 3) [4, 5) [6, 7) and 2 more 6 rows");
  }
}
