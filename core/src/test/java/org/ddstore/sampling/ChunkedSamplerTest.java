// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Blocks in windows, against lists of blocks. */
class ChunkedSamplerTest {
  @Test
  void shufflesWholeBlocksAndPutsTheShortOneInTheLastWindow() {
    Random random = new Random(3);
    for (int trial = 0; trial < 500; trial++) {
      int blockRows = 1 + random.nextInt(9);
      int windowBlocks = 1 + random.nextInt(5);
      int rows = random.nextInt(200);
      long epoch = random.nextInt(4);
      List<Long> order =
          Epochs.order(Samplers.chunked(trial, blockRows, windowBlocks), rows, epoch);
      String shape = "%d rows, %d x %d".formatted(rows, windowBlocks, blockRows);
      assertThat(order).as(shape).containsExactlyInAnyOrderElementsOf(Epochs.upTo(rows));
      int windowRows = blockRows * windowBlocks;
      for (int from = 0; from < rows; from += windowRows) {
        List<Long> window = order.subList(from, Math.min(rows, from + windowRows));
        Set<Long> blocks = new TreeSet<>();
        window.forEach(row -> blocks.add(row / blockRows));
        int whole = (window.size() + blockRows - 1) / blockRows;
        assertThat(blocks).as("blocks of a window of %s", shape).hasSize(whole);
        if (rows % blockRows > 0) {
          boolean last = from + windowRows >= rows;
          assertThat(blocks.contains((long) rows / blockRows))
              .as("the short block of %s", shape)
              .isEqualTo(last);
        }
      }
    }
  }

  /** Neither blocks nor the rows in a window have favourite places. */
  @Test
  void distributesBlocksAndRowsUniformly() {
    int blocks = 12;
    int blockRows = 3;
    long[] blockAt = new long[blocks / 4 * blocks];
    long[] rowAt = new long[4 * blockRows * blockRows];
    for (int epoch = 0; epoch < 12_000; epoch++) {
      SampleOrder order =
          Samplers.chunked(8, blockRows, 4)
              .order(Sampler.Epoch.of((long) blocks * blockRows, epoch));
      for (int position = 0; position < blocks * blockRows; position++) {
        long row = order.at(position);
        if (row % blockRows == 0) { // one row for each block: the others go with it
          blockAt[position / (4 * blockRows) * blocks + (int) row / blockRows]++;
        }
        if (position < 4 * blockRows) {
          rowAt[position * blockRows + (int) row % blockRows]++;
        }
      }
    }
    assertThat(ChiSquare.equal(blockAt)).isLessThan(ChiSquare.limit(2 * 11));
    assertThat(ChiSquare.equal(rowAt)).isLessThan(ChiSquare.limit(11 * 2));
  }

  @Test
  void dropsADifferentEndOfTheRowsInEachEpoch() {
    for (int epoch = 0; epoch < 7; epoch++) {
      SampleOrder order = Samplers.chunked(1, 4, 2).order(new Sampler.Epoch(43, epoch, 3, 0));
      List<Long> dropped = new ArrayList<>();
      for (int position = 40; position < 43; position++) {
        dropped.add(order.at(position));
      }
      long first = (40 + 3L * epoch) % 43;
      assertThat(dropped).containsExactly(first, (first + 1) % 43, (first + 2) % 43);
    }
  }
}
