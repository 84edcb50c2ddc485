// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** The form of sets of rows: the smaller one, also while they are built. */
class RowSetBuilderTest {
  private static final int ROWS = 10_000_000;

  @Test
  void aRandomMaskTakesOneBitPerRow() {
    RowSetBuilder builder = new RowSetBuilder();
    Random random = new Random(7);
    long rows = 0;
    for (int row = 0; row < ROWS; row++) {
      if (random.nextBoolean()) {
        builder.add(row, row + 1L);
        rows++;
      }
    }
    RowSet set = builder.build();
    assertThat(set).isInstanceOf(RowBitmap.class);
    assertThat(set.size()).isEqualTo(rows);
    assertThat(set.content()).hasSizeLessThanOrEqualTo(ROWS / Long.SIZE + 1);
  }

  @Test
  void fewRunsAmongManyRowsTakeTwoNumbersEach() {
    RowSetBuilder builder = new RowSetBuilder();
    for (long first = 0; first < ROWS * 1000L; first += ROWS) {
      builder.add(first, first + 7);
    }
    RowSet set = builder.build();
    assertThat(set).isInstanceOf(RowRuns.class);
    assertThat(set.size()).isEqualTo(7000);
    assertThat(set.content()).hasSize(2000);
  }

  /** Begins as a mask whose bitmap is smaller, and ends as few runs over many rows. */
  @Test
  void aLongRunAfterAMaskMakesRunsOfIt() {
    RowSetBuilder builder = new RowSetBuilder();
    for (long row = 0; row < 20_000; row += 2) {
      builder.add(row, row + 1);
    }
    long many = 1L << 50;
    builder.add(many, many + 5);
    builder.add(many + 5, 2 * many);
    RowSet set = builder.build();
    assertThat(set).isInstanceOf(RowRuns.class);
    assertThat(set.size()).isEqualTo(10_000 + many);
    assertThat(set.row(9_999)).isEqualTo(19_998);
    assertThat(set.row(10_000)).isEqualTo(many);
    assertThat(set.nextGap(many)).isEqualTo(2 * many);
    assertThat(set.nextRow(2 * many)).isEqualTo(RowSet.NONE);
    assertThat(set.end()).isEqualTo(2 * many);
  }
}
