// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.ddstore.types.Plural;
import org.junit.jupiter.api.Test;

class CoverageTest {
  private static CoverageReceipt together(long samples, long epoch, List<List<Long>> byRank) {
    List<Coverage> ranks = new ArrayList<>();
    for (int rank = 0; rank < byRank.size(); rank++) {
      Coverage coverage = new Coverage(samples, epoch);
      long[] given = byRank.get(rank).stream().mapToLong(Long::longValue).toArray();
      coverage.deliver(given, given.length, 0);
      coverage.expectAll(new WorldRank(rank, byRank.size()));
      ranks.add(coverage);
    }
    return sum(ranks);
  }

  private static CoverageReceipt sum(List<Coverage> ranks) {
    long[] total = ranks.get(0).sums();
    for (Coverage other : ranks.subList(1, ranks.size())) {
      for (int i = 0; i < total.length; i++) {
        total[i] += other.sums()[i];
      }
    }
    return ranks.get(0).receipt();
  }

  private static List<List<Long>> dealt(int rows, int world) {
    List<List<Long>> ranks = new ArrayList<>();
    for (int rank = 0; rank < world; rank++) {
      ranks.add(new ArrayList<>());
    }
    Random random = new Random(rows);
    Epochs.upTo(rows).forEach(row -> ranks.get(random.nextInt(world)).add(row));
    return ranks;
  }

  @Test
  void provesExactCoverage() {
    for (int rows : new int[] {0, 1, 7, 1024, 1025, 5000, 100_000}) {
      CoverageReceipt receipt = together(rows, 4, dealt(rows, 3));
      assertThat(receipt.isExact()).as("%s", receipt).isTrue();
      assertThat(receipt)
          .hasToString(
              "%s, each exactly once; %,d delivered, 0 dropped, 0 padded"
                  .formatted(Plural.of(rows, "sample"), rows));
    }
  }

  @Test
  void namesALostRow() {
    List<List<Long>> ranks = dealt(5000, 3);
    ranks.forEach(rank -> rank.remove(1234L));
    CoverageReceipt receipt = together(5000, 0, ranks);
    assertThat(receipt.isExact()).isFalse();
    assertThat(receipt.lost()).isEqualTo(1);
    assertThat(receipt)
        .hasToString(
            "5,000 samples, not each once: sample 1,234 lost; 4,999 delivered, 0 dropped, 0 padded");
  }

  @Test
  void namesARepeatedRow() {
    List<List<Long>> ranks = dealt(5000, 3);
    ranks.get(2).add(77L);
    CoverageReceipt receipt = together(5000, 0, ranks);
    assertThat(receipt.repeated()).isEqualTo(1);
    assertThat(receipt.toString()).contains("sample 77 repeated");
  }

  @Test
  void detectsALostAndARepeatedRowOnDifferentRanks() {
    for (long[] pair : new long[][] {{100, 101}, {100, 103}, {0, 4999}}) {
      List<List<Long>> ranks = new ArrayList<>(dealt(5000, 3));
      ranks.forEach(rank -> rank.remove(pair[0]));
      ranks.get(1).add(pair[1]);
      CoverageReceipt receipt = together(5000, 2, ranks);
      assertThat(receipt.isExact()).isFalse();
      assertThat(receipt.delivered()).isEqualTo(5000);
      boolean sameBucket = pair[0] / 8 == pair[1] / 8; // 5,000 samples: buckets of 8
      assertThat(receipt.wrong()).hasSize(sameBucket ? 1 : 2);
      if (sameBucket) {
        assertThat(receipt.toString()).contains("some lost, as many repeated");
      }
    }
  }

  /** The counts, sums, squares and exclusive ors of both are the same. */
  @Test
  void detectsLostAndRepeatedRowsWithEqualSums() {
    long[] lost = {0, 3, 5, 6};
    long[] doubled = {1, 2, 4, 7};
    for (int rows : new int[] {8, 20_000}) {
      List<List<Long>> ranks = dealt(rows, 2);
      for (List<Long> rank : ranks) {
        rank.removeIf(row -> LongStream.of(lost).anyMatch(l -> l == row));
      }
      LongStream.of(doubled).forEach(row -> ranks.get(0).add(row));
      CoverageReceipt receipt = together(rows, 9, ranks);
      assertThat(receipt.isExact()).as("%s", receipt).isFalse();
      assertThat(receipt.delivered()).isEqualTo(rows);
      if (rows > 8) {
        assertThat(receipt.toString()).contains("[0, 32): some lost, as many repeated");
      }
    }
  }

  @Test
  void countsDroppedRowsAndPadding() {
    Batching dropping = Samplers.shuffled(3).batchSize(64);
    Batching padding = Samplers.shuffled(3).batchSize(64).evaluation();
    for (Batching batching : List.of(dropping, padding)) {
      List<Coverage> ranks = new ArrayList<>();
      for (int rank = 0; rank < 3; rank++) {
        WorldRank place = new WorldRank(rank, 3);
        EpochBatches batches = batching.epoch(1000, place, 5);
        Coverage coverage = new Coverage(1000, 5);
        long[] room = new long[batches.maxSize()];
        for (long batch = 0; batch < batches.batches(); batch++) {
          batches.fill(batch, room);
          int padded = batches.padding(batch);
          coverage.deliver(room, batches.size(batch) - padded, padded);
        }
        coverage.drop(batches.dropped(), place);
        coverage.expectAll(place);
        ranks.add(coverage);
      }
      assertThat(sum(ranks))
          .hasToString(
              batching == dropping
                  ? "1,000 samples, each at most once; 960 delivered, 40 dropped, 0 padded"
                  : "1,000 samples, each exactly once; 1,000 delivered, 0 dropped, 152 padded");
    }
  }

  @Test
  void limitsTheNumberOfNamedBuckets() {
    assertThat(together(10_000, 0, List.of(List.of())).toString())
        .startsWith("10,000 samples, not each once: [0, 16): 16 or more lost, ")
        .endsWith(" and in other buckets; 0 delivered, 0 dropped, 0 padded");
  }
}
