// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class CostAwareSamplerTest {
  private static long cost(List<Long> rows, long... costs) {
    return rows.stream().mapToLong(row -> costs[row.intValue()]).sum();
  }

  @Test
  void givesAllRanksEqualBatchCountsWithinMaxCost() {
    long seed = Long.getLong("ddstore.test.seed", System.nanoTime());
    System.out.println("givesAllRanksEqualBatchCountsWithinMaxCost: -Dddstore.test.seed=" + seed);
    Random random = new Random(seed);
    for (int trial = 0; trial < 300; trial++) {
      int world = 1 + random.nextInt(6);
      long[] costs = random.longs(world + random.nextInt(400), 0, 1000).toArray();
      long maxCost = 1000L + random.nextInt(5000);
      CostAwareSampler sampler = Samplers.costAware(trial, maxCost, costs);
      List<EpochBatches> ranks = Epochs.ranks(sampler, costs.length, world, 1);
      List<Long> all = new ArrayList<>();
      Set<Long> positions = new HashSet<>();
      for (EpochBatches rank : ranks) {
        assertThat(rank.batches()).isEqualTo(ranks.get(0).batches());
        for (long batch = 0; batch < rank.batches(); batch++) {
          List<Long> rows = Epochs.samples(rank, batch);
          assertThat(cost(rows, costs)).isLessThanOrEqualTo(maxCost);
          all.addAll(rows);
          for (int i = 0; i < rows.size(); i++) {
            positions.add(rank.position(batch, i));
          }
        }
      }
      assertThat(all)
          .as("trial %d of seed %d", trial, seed)
          .containsExactlyInAnyOrderElementsOf(Epochs.upTo(costs.length));
      assertThat(positions).containsExactlyInAnyOrderElementsOf(Epochs.upTo(costs.length));
      assertThat(ranks.get(0).positions()).isEqualTo(costs.length);
    }
  }

  /** Costs over four orders of magnitude: ranks of a step differ by a few in a hundred. */
  @Test
  void balancesTheCostOfRanksInAStep() {
    Random random = new Random(8);
    long[] costs =
        LongStream.range(0, 20_000)
            .map(i -> (long) Math.pow(10, 4 * random.nextDouble()))
            .toArray();
    List<EpochBatches> ranks = Epochs.ranks(Samplers.costAware(1, 100_000, costs), 20_000, 4, 0);
    long total = LongStream.of(costs).sum();
    assertThat(ranks.get(0).batches())
        .as("no more steps than a full packing and one in a hundred need")
        .isLessThanOrEqualTo((long) (total / 100_000.0 / 4 * 1.01) + 2);
    for (long step = 0; step < ranks.get(0).batches(); step++) {
      long least = Long.MAX_VALUE;
      long most = 0;
      for (EpochBatches rank : ranks) {
        long cost = cost(Epochs.samples(rank, step), costs);
        least = Math.min(least, cost);
        most = Math.max(most, cost);
      }
      assertThat((double) most / least).as("step %d", step).isLessThan(1.02);
    }
  }

  @Test
  void stepsAreTheSameForEveryNumberOfRanks() {
    long[] costs = new Random(9).longs(500, 1, 100).toArray();
    CostAwareSampler sampler = Samplers.costAware(3, 700, costs).batchesPerStep(8);
    for (int epoch = 0; epoch < 2; epoch++) {
      List<Long> expected = Epochs.ofAll(sampler, 500, 1, epoch);
      for (int world : new int[] {2, 3, 4, 8}) {
        assertThat(Epochs.ofAll(sampler, 500, world, epoch)).isEqualTo(expected);
        assertThat(sampler.describe(world)).isEqualTo(sampler.describe(1));
      }
      assertThat(expected).containsExactlyInAnyOrderElementsOf(Epochs.upTo(500));
    }
  }

  @Test
  void changesBatchesEachEpochWithDistinctCosts() {
    long[] costs = LongStream.range(100, 600).toArray();
    CostAwareSampler sampler = Samplers.costAware(3, 10_000, costs);
    Set<Set<Long>> batches = new HashSet<>();
    int count = 0;
    for (int epoch = 0; epoch < 10; epoch++) {
      EpochBatches rank = sampler.epoch(500, new WorldRank(0, 1), epoch);
      for (long batch = 0; batch < rank.batches(); batch++, count++) {
        batches.add(Set.copyOf(Epochs.samples(rank, batch)));
      }
    }
    assertThat(batches).hasSize(count);
  }

  /** Ten rows of which no two fit into a batch, in steps of three. */
  @Test
  void leavesBatchesEmptyIfRowsDoNotFillAStep() {
    long[] costs = LongStream.range(0, 10).map(row -> 6 + row % 5).toArray();
    List<EpochBatches> ranks = Epochs.ranks(Samplers.costAware(1, 10, costs), 10, 3, 0);
    List<Long> rows = new ArrayList<>();
    int empty = 0;
    for (EpochBatches rank : ranks) {
      assertThat(rank.batches()).isEqualTo(4);
      for (long batch = 0; batch < rank.batches(); batch++) {
        rows.addAll(Epochs.samples(rank, batch));
        empty += rank.size(batch) == 0 ? 1 : 0;
        assertThat(rank.share(batch)).isEqualTo((double) rank.size(batch) / rank.globalSize(batch));
      }
    }
    assertThat(rows).containsExactlyInAnyOrderElementsOf(Epochs.upTo(10));
    assertThat(empty).isEqualTo(2);
  }

  @Test
  void rejectsRowsThatCannotBePacked() {
    assertThatThrownBy(() -> Samplers.costAware(1, 10, 5, 11))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("cost 11 of row 1 outside [0, 10], the largest cost of a batch");
    assertThatThrownBy(() -> Samplers.costAware(1, 10, 5, 5).epoch(2, new WorldRank(0, 3), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "2 rows in steps of 3 batches cannot give each of 3 ranks one batch: use fewer ranks, or set batchesPerStep(..) to at least their number");
    assertThatThrownBy(() -> Samplers.costAware(1, 10, 5, 5).epoch(3, new WorldRank(0, 1), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("3 samples, but 2 costs: give one for each");
  }
}
