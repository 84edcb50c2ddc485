// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WorldRankTest {
  @Test
  void readsTheEnvironment() {
    assertThat(WorldRank.from(Map.of("RANK", " 3", "WORLD_SIZE", "8")))
        .isEqualTo(new WorldRank(3, 8))
        .hasToString("rank 3 of 8");
    assertThatThrownBy(() -> WorldRank.from(Map.of("RANK", "3")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "environment variable WORLD_SIZE is not set: set RANK and WORLD_SIZE, or give rank and world");
    assertThatThrownBy(() -> WorldRank.from(Map.of("RANK", "first", "WORLD_SIZE", "8")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("environment variable RANK=first is not a number");
    assertThatThrownBy(() -> WorldRank.from(Map.of("RANK", "8", "WORLD_SIZE", "8")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("rank 8 outside [0, 8)");
  }

  @Test
  void firstMatchesExactIntegerDivision() {
    Random random = new Random(1);
    for (int trial = 0; trial < 10_000; trial++) {
      long size = random.nextLong() >>> (1 + random.nextInt(62));
      int world = 1 + random.nextInt(10_000);
      int rank = random.nextInt(world + 1);
      BigInteger exact =
          BigInteger.valueOf(size)
              .multiply(BigInteger.valueOf(rank))
              .divide(BigInteger.valueOf(world));
      assertThat(BigInteger.valueOf(WorldRank.first(size, rank, world))).isEqualTo(exact);
    }
  }
}
