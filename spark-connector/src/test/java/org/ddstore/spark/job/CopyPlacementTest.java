// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.ddstore.spark.config.ReplicaGroups;
import org.junit.jupiter.api.Test;

class CopyPlacementTest {

  private static int[] place(int width, String... executors) {
    return CopyPlacement.of(new ReplicaGroups(executors.length, width), List.of(executors));
  }

  @Test
  void placesCopiesOnDifferentExecutors() {
    assertThat(place(2, "A", "B", "A", "B")).containsExactly(0, 1, 1, 0);
    assertThat(place(2, "A", "A", "B", "B")).containsExactly(0, 1, 0, 1);
    assertThat(place(2, "A", "B", "B", "A", "C", "C")).containsExactly(0, 1, 0, 1, 0, 1);
    assertThat(place(3, "A", "B", "C", "A", "B", "C")).startsWith(0, 1, 2).satisfies(this::moved);
  }

  private void moved(int... members) {
    for (int i = 0; i < 3; i++) {
      assertThat(members[3 + i]).isNotEqualTo(i);
    }
  }

  @Test
  void placesAllCopiesOnTheOnlyExecutor() {
    assertThat(place(2, "A", "A", "A", "A")).containsExactly(0, 1, 0, 1);
    assertThat(place(1, "A", "B", "A")).containsExactly(0, 0, 0);
  }

  @Test
  void everyGroupHoldsEveryShardOnce() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      int width = 1 + random.nextInt(6);
      int groups = 1 + random.nextInt(4);
      List<String> executors = new ArrayList<>();
      for (int rank = 0; rank < width * groups; rank++) {
        executors.add("executor " + random.nextInt(1 + random.nextInt(8)));
      }
      int[] members = CopyPlacement.of(new ReplicaGroups(width * groups, width), executors);
      for (int group = 0; group < groups; group++) {
        Set<Integer> held = new HashSet<>();
        for (int i = 0; i < width; i++) {
          held.add(members[group * width + i]);
        }
        assertThat(held).as("seed %d, executors %s", seed, executors).hasSize(width);
      }
    }
  }
}
