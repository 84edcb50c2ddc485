// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ExtentMapTest {
  @Test
  void findsRowsLikeALinearScan() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int trial = 0; trial < 300; trial++) {
      ExtentMap map = ExtentMap.EMPTY;
      List<Integer> extentOfRow = new ArrayList<>();
      int ranks = 1 + random.nextInt(6);
      int extent = 0;
      for (int append = random.nextInt(4); append >= 0; append--) {
        long[] rows = new long[ranks];
        for (int r = 0; r < ranks; r++, extent++) {
          rows[r] = (long) random.nextInt(3) * random.nextInt(random.nextBoolean() ? 5 : 100);
          for (int i = 0; i < rows[r]; i++) {
            extentOfRow.add(extent);
          }
        }
        ExtentMap before = map;
        long rowsBefore = before.rows();
        map = map.append(rows);
        assertThat(before.rows()).isEqualTo(rowsBefore);
      }
      assertThat(map.extents()).isEqualTo(extent);
      assertThat(map.rows()).isEqualTo(extentOfRow.size());
      for (int row = 0; row < extentOfRow.size(); row++) {
        int found = map.extentOf(row);
        assertThat(found).as("row %d, seed %d", row, seed).isEqualTo(extentOfRow.get(row));
        assertThat(map.rank(found)).isEqualTo(found % ranks);
        assertThat((long) row)
            .isBetween(map.firstRow(found), map.firstRow(found) + map.rows(found) - 1);
      }
    }
  }

  @Test
  void findsRowsBeyondDoublePrecision() {
    long most = Long.MAX_VALUE / 4;
    ExtentMap map = ExtentMap.EMPTY.append(most, 1, most, 0, 1);
    assertThat(map.extentOf(most - 1)).isZero();
    assertThat(map.extentOf(most)).isEqualTo(1);
    assertThat(map.extentOf(most + 1)).isEqualTo(2);
    assertThat(map.extentOf(2 * most)).isEqualTo(2);
    assertThat(map.extentOf(2 * most + 1)).isEqualTo(4);
    assertThatThrownBy(() -> map.append(most, most, most)).isInstanceOf(ArithmeticException.class);
    assertThatThrownBy(() -> map.append(0, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("rank 1 has -1 rows");
  }

  @Test
  void balancedStartIsTheFloorOfTheFraction() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int trial = 0; trial < 10_000; trial++) {
      int ranks = 1 + random.nextInt(trial % 2 == 0 ? 10 : Integer.MAX_VALUE - 1);
      long rows = random.nextLong() >>> (1 + random.nextInt(63));
      int rank = trial % 10 == 0 ? ranks : random.nextInt(ranks);
      BigInteger expected =
          BigInteger.valueOf(rows)
              .multiply(BigInteger.valueOf(rank))
              .divide(BigInteger.valueOf(ranks));
      assertThat(BigInteger.valueOf(ExtentMap.balancedStart(rows, rank, ranks)))
          .as("%d rows, rank %d of %d, seed %d", rows, rank, ranks, seed)
          .isEqualTo(expected);
    }
    assertThat(ExtentMap.balancedStart(10, 0, 3)).isZero();
    assertThat(ExtentMap.balancedStart(10, 1, 3)).isEqualTo(3);
    assertThat(ExtentMap.balancedStart(10, 2, 3)).isEqualTo(6);
    assertThat(ExtentMap.balancedStart(10, 3, 3)).isEqualTo(10);
  }
}
