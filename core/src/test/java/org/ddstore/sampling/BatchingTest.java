// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.ddstore.types.Plural;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Assignment of samples to ranks: properties over many shapes, compared with lists. */
class BatchingTest {
  private static final int TRIALS = 300;

  private record Shape(int rows, int world, int batch, int epoch, Sampler sampler) {
    static Shape draw(Random random) {
      int rows = 1 + random.nextInt(random.nextInt(4) == 0 ? 3000 : 150);
      int batch = 1 + random.nextInt(12);
      int seed = random.nextInt();
      int world = 1 + random.nextInt(8);
      Sampler sampler =
          switch (random.nextInt(3)) {
            case 0 -> Samplers.sequential();
            case 1 -> Samplers.shuffled(seed);
            default -> chunked(random, seed, batch * world);
          };
      return new Shape(rows, world, batch, random.nextInt(5), sampler);
    }

    private static Sampler chunked(Random random, int seed, int globalBatch) {
      int blockRows = 1 + random.nextInt(40);
      int common = BigInteger.valueOf(globalBatch).gcd(BigInteger.valueOf(blockRows)).intValue();
      int windowBlocks = globalBatch / common * (1 + random.nextInt(2));
      return Samplers.chunked(seed, blockRows, windowBlocks);
    }

    Batching batching(Distribution distribution) {
      return sampler.batchSize(batch).distribution(distribution);
    }

    List<EpochBatches> ranks(Batching batching) {
      return Epochs.ranks(batching, rows, world, epoch);
    }

    List<Long> samples(Batching batching) {
      return Epochs.ofAll(batching, rows, world, epoch);
    }

    @Override
    public String toString() {
      return "%d rows, %d ranks, batch %d, epoch %d, %s"
          .formatted(rows, world, batch, epoch, sampler.describe());
    }
  }

  private static Random random(String test) {
    long seed = Long.getLong("ddstore.test.seed", System.nanoTime());
    System.out.println(test + ": -Dddstore.test.seed=" + seed);
    return new Random(seed);
  }

  private static void forShapes(
      String test, int trials, BiConsumer<Shape, Distribution> assertion) {
    Random random = random(test);
    for (int trial = 0; trial < trials; trial++) {
      Shape shape = Shape.draw(random);
      for (Distribution distribution : Distribution.values()) {
        assertion.accept(shape, distribution);
      }
    }
  }

  @Test
  void equalBatchesAreDisjointEqualAndReproducible() {
    forShapes(
        "equalBatchesAreDisjointEqualAndReproducible",
        TRIALS,
        (shape, distribution) -> {
          Batching batching = shape.batching(distribution);
          if (shape.rows() < shape.batch() * shape.world()) {
            assertTooFew(shape, batching);
            return;
          }
          Set<Long> seen = new HashSet<>();
          int steps = shape.rows() / (shape.batch() * shape.world());
          for (EpochBatches rank : shape.ranks(batching)) {
            assertThat(rank.batches()).as("%s", shape).isEqualTo(steps);
            assertThat(rank.positions()).isEqualTo(shape.rows());
            for (long batch = 0; batch < steps; batch++) {
              assertThat(rank.size(batch)).as("%s", shape).isEqualTo(shape.batch());
              assertThat(rank.share(batch)).isEqualTo(1.0 / shape.world());
              seen.addAll(Epochs.real(rank, batch));
            }
            seen.addAll(dropped(rank));
          }
          assertThat(sorted(seen))
              .as("%s %s", shape, distribution)
              .isEqualTo(Epochs.upTo(shape.rows()));
          assertThat(shape.samples(batching))
              .as("%s %s", shape, distribution)
              .doesNotHaveDuplicates()
              .hasSize(steps * shape.batch() * shape.world())
              .isEqualTo(shape.samples(batching));
        });
  }

  private static List<Long> sorted(Collection<Long> samples) {
    return samples.stream().sorted().toList();
  }

  private static List<Long> dropped(EpochBatches rank) {
    SampleOrder dropped = rank.dropped();
    List<Long> samples = new ArrayList<>();
    for (long i = 0; i < dropped.size(); i++) {
      samples.add(dropped.at(i));
    }
    return samples;
  }

  private static void assertTooFew(Shape shape, Batching batching) {
    assertThatThrownBy(
            () -> batching.epoch(shape.rows(), new WorldRank(0, shape.world()), shape.epoch()))
        .as("%s", shape)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "%s (%s an epoch) cannot give %s one batch of %d: "
                .formatted(
                    Plural.of(shape.rows(), "row"),
                    Plural.of(shape.rows(), "sample"),
                    shape.world() == 1 ? "the rank" : "each of %d ranks".formatted(shape.world()),
                    shape.batch()));
  }

  @Test
  void everySampleBatchesLoseNoRow() {
    forShapes(
        "everySampleBatchesLoseNoRow",
        TRIALS,
        (shape, distribution) -> {
          Batching batching = shape.batching(distribution).everySample();
          List<EpochBatches> ranks = shape.ranks(batching);
          assertEveryRowOnce(shape, batching, ranks);
          assertThat(ranks.get(0).dropped().size()).isZero();
          for (long batch = 0; batch < ranks.get(0).batches(); batch++) {
            double shares = 0;
            for (EpochBatches rank : ranks) {
              shares += rank.share(batch);
              assertThat(rank.padding(batch)).isZero();
            }
            assertThat(shares).as("%s %s", shape, distribution).isBetween(1 - 1e-9, 1 + 1e-9);
          }
        });
  }

  private static void assertEveryRowOnce(Shape shape, Batching batching, List<EpochBatches> ranks) {
    int global = shape.batch() * shape.world();
    assertThat(ranks)
        .as("%s %s", shape, batching.describe(shape.world()))
        .allMatch(rank -> rank.batches() == (shape.rows() + global - 1) / global);
    assertThat(sorted(shape.samples(batching)))
        .as("%s %s", shape, batching.describe(shape.world()))
        .isEqualTo(Epochs.upTo(shape.rows()));
  }

  @Test
  void evaluationDeliversEveryRowOnceInFullBatches() {
    forShapes(
        "evaluationDeliversEveryRowOnceInFullBatches",
        TRIALS,
        (shape, distribution) -> {
          Batching batching = shape.batching(distribution).evaluation();
          List<EpochBatches> ranks = shape.ranks(batching);
          assertEveryRowOnce(shape, batching, ranks);
          for (EpochBatches rank : ranks) {
            for (long batch = 0; batch < rank.batches(); batch++) {
              assertThat(rank.size(batch)).isEqualTo(shape.batch());
              assertThat(Epochs.samples(rank, batch))
                  .as("padding of %s is rows", shape)
                  .allMatch(sample -> sample >= 0 && sample < shape.rows());
            }
          }
        });
  }

  @Test
  void positionsMatchTheOrderOfSamples() {
    forShapes(
        "positionsMatchTheOrderOfSamples",
        150,
        (shape, distribution) -> {
          Set<Long> positions = new TreeSet<>();
          int count = 0;
          Batching batching = shape.batching(distribution).evaluation();
          for (EpochBatches rank : Epochs.ranks(batching, shape.rows(), shape.world(), 0)) {
            for (long batch = 0; batch < rank.batches(); batch++) {
              for (int i = 0; i < rank.size(batch); i++, count++) {
                long position = rank.position(batch, i);
                assertThat(positions.add(position)).as("%s %s", shape, distribution).isTrue();
                assertThat(position < shape.rows())
                    .as("position %d of %s %s", position, shape, distribution)
                    .isEqualTo(i < rank.size(batch) - rank.padding(batch));
              }
            }
          }
          assertThat(positions).hasSize(count);
        });
  }

  /** Section D: what each rank of two gets of 20,000 rows in batches of 256. */
  @Test
  void dealsTwentyThousandRowsToTwoRanks() {
    Batching chunked =
        Samplers.chunked(42, 64, 32).batchSize(256).distribution(Distribution.CONTIGUOUS);
    for (int rank = 0; rank < 2; rank++) {
      EpochBatches batches = chunked.epoch(20_000, new WorldRank(rank, 2), 0);
      assertThat(batches.batches()).isEqualTo(39);
      assertThat(batches.dropped().size()).isEqualTo(32);
      List<Long> rows = new ArrayList<>(Epochs.ofRank(chunked, 20_000, rank, 2, 0));
      rows.sort(null);
      assertThat(rows).hasSize(9_984).startsWith(rank * 9_984L).endsWith(rank * 9_984L + 9_983);
    }
  }

  @Test
  void dropsEveryRowOnceOverSuccessiveEpochs() {
    for (Distribution distribution : Distribution.values()) {
      for (Sampler sampler : List.of(Samplers.sequential(), Samplers.chunked(3, 8, 4))) {
        Batching batching = sampler.globalBatchSize(32).distribution(distribution);
        int[] drops = new int[40];
        for (int epoch = 0; epoch < 5; epoch++) {
          for (long row : dropped(batching.epoch(40, new WorldRank(0, 2), epoch))) {
            drops[(int) row]++;
          }
        }
        assertThat(drops).as("%s %s", sampler.describe(), distribution).containsOnly(1);
      }
    }
  }

  /** With nearly half of the rows dropped, two epochs of a pair together still read all. */
  @ParameterizedTest
  @EnumSource
  void shufflingStarvesNoRow(Distribution distribution) {
    for (int world = 1; world <= 4; world++) {
      for (int rows = 2 * world; rows < (world == 1 ? 400 : 150); rows++) {
        int batch = rows / world / 2 + 1;
        Batching batching = Samplers.shuffled(rows).batchSize(batch).distribution(distribution);
        for (int epoch = 0; epoch < 6; epoch += 2) {
          Set<Long> seen = new HashSet<>(Epochs.ofAll(batching, rows, world, epoch));
          seen.addAll(Epochs.ofAll(batching, rows, world, epoch + 1));
          assertThat(seen).as("%d rows, %d ranks, batches of %d", rows, world, batch).hasSize(rows);
        }
      }
    }
  }

  @Test
  void dividesUnevenGlobalBatchesBySlicesAndStrides() {
    Batching slices = Samplers.sequential().globalBatchSize(10);
    List<EpochBatches> ranks = Epochs.ranks(slices, 25, 4, 0);
    assertThat(ranks.stream().map(rank -> Epochs.samples(rank, 1)).toList())
        .containsExactly(
            List.of(10L, 11L), List.of(12L, 13L, 14L), List.of(15L, 16L), List.of(17L, 18L, 19L));
    assertThat(ranks.stream().map(rank -> rank.share(1)).toList())
        .containsExactly(0.2, 0.3, 0.2, 0.3);
    List<EpochBatches> strided = Epochs.ranks(slices.distribution(Distribution.STRIDED), 25, 4, 0);
    assertThat(strided.stream().map(rank -> Epochs.samples(rank, 1)).toList())
        .containsExactly(
            List.of(10L, 14L, 18L), List.of(11L, 15L, 19L), List.of(12L, 16L), List.of(13L, 17L));
  }

  @Test
  void rejectsInvalidBatchSizes() {
    WorldRank second = new WorldRank(1, 2);
    refused(() -> Samplers.sequential().batchSize(0), "batchSize 0 must be at least 1");
    refused(
        () -> Samplers.sequential().globalBatchSize(1).epoch(9, second, 0),
        "a global batch of 1 sample outside [2, 2,147,483,647]: at least one for each of 2 ranks");
    refused(
        () ->
            Samplers.sequential()
                .globalBatchSize(3)
                .distribution(Distribution.CONTIGUOUS)
                .epoch(9, second, 0),
        "a global batch of 3 does not divide into 2 contiguous parts: use a multiple of 2");
    refused(
        () -> Samplers.chunked(1, 64, 32).batchSize(100).epoch(20_000, new WorldRank(0, 1), 0),
        "a batch of 100 rows does not divide a window of 32 blocks of 64 rows: use a divisor of 2,048");
    refused(
        () -> Samplers.chunked(1, 64, 1).batchSize(128).epoch(20_000, new WorldRank(0, 1), 0),
        "a batch of 128 rows does not divide a window of 1 blocks of 64 rows");
    refused(() -> Samplers.chunked(1, 0, 1), "blockRows 0 must be at least 1");
    refused(
        () ->
            Samplers.weighted(1, 10, 1, 1, 1)
                .batchSize(1)
                .distribution(Distribution.CONTIGUOUS)
                .epoch(3, second, 0),
        "cannot order a part of them: use Distribution.SLICES or STRIDED");
    refused(
        () -> Samplers.sequential().batchSize(4).epoch(-1, second, 0),
        "-1 rows in epoch 0: both must be at least 0");
  }

  private static void refused(Runnable call, String message) {
    assertThatThrownBy(call::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void givesNoBatchesForZeroRows() {
    for (Distribution distribution : Distribution.values()) {
      Batching batching = Samplers.shuffled(1).batchSize(4).distribution(distribution);
      assertThat(Epochs.ofAll(batching.everySample(), 0, 3, 0)).isEmpty();
      assertThat(Epochs.ofAll(batching.evaluation(), 0, 3, 0)).isEmpty();
    }
  }

  @Test
  void noBatchExceedsMaxSize() {
    Random random = random("noBatchExceedsMaxSize");
    for (int trial = 0; trial < TRIALS; trial++) {
      Shape shape = Shape.draw(random);
      int global = shape.world() + random.nextInt(40);
      Batching batching = Samplers.shuffled(trial).globalBatchSize(global).everySample();
      for (EpochBatches rank : shape.ranks(batching)) {
        for (long batch = 0; batch < rank.batches(); batch++) {
          assertThat(rank.size(batch)).as("%s", shape).isLessThanOrEqualTo(rank.maxSize());
        }
      }
    }
  }
}
