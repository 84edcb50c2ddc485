// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PiecePartsTest {
  @Test
  void mergesAdjacentPartsIntoOneRange() {
    PieceParts parts = new PieceParts(8, 10, 4, 4); // elements 0..2, 2..5, 5..7, 7..10
    assertThat(parts.usedBytes()).isEqualTo(48);
    assertThat(parts.ranges(new int[] {0})).containsExactly(0, 16);
    assertThat(parts.ranges(new int[] {1, 2})).containsExactly(0, 8, 16, 36);
    assertThat(parts.ranges(new int[] {1, 3})).containsExactly(0, 8, 16, 28, 36, 48);
    assertThat(parts.ranges(new int[] {0, 1, 2, 3})).containsExactly(0, 48);
  }

  @Test
  void commonPieceIsOneRange() {
    assertThat(PieceParts.common(100).ranges(new int[] {2, 5})).containsExactly(0, 100);
    assertThat(PieceParts.common(0).ranges(new int[] {0})).containsExactly(0, 0);
  }

  @Test
  void rangesCoverExactlyThePartsOfTheRanks() {
    long seed = CommunicatorContract.seed();
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      int ranks = 1 + random.nextInt(9);
      int common = random.nextInt(3) * 8;
      int elements = random.nextInt(20);
      int[] some =
          random.ints(0, ranks).distinct().limit(1 + random.nextInt(ranks)).sorted().toArray();
      boolean[] wanted = new boolean[common + elements * 8];
      Arrays.fill(wanted, 0, common, true);
      for (int rank : some) {
        int from = PieceParts.firstElement(elements, rank, ranks);
        int end = PieceParts.firstElement(elements, rank + 1, ranks);
        Arrays.fill(wanted, common + from * 8, common + end * 8, true);
      }
      boolean[] sent = new boolean[wanted.length];
      int[] ranges = new PieceParts(common, elements, 8, ranks).ranges(some);
      for (int r = 0; r < ranges.length; r += 2) {
        assertThat(r == 0 || ranges[r] > ranges[r - 1]).as("ascending, seed %d", seed).isTrue();
        Arrays.fill(sent, ranges[r], ranges[r + 1], true);
      }
      assertThat(sent).as("seed %d", seed).isEqualTo(wanted);
    }
  }
}
