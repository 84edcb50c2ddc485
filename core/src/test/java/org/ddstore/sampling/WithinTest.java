// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Samplers that are restricted to a subset of the rows. */
class WithinTest {
  private static final int ROWS = 1003;
  private static final int GLOBAL = 24;
  private static final RowSubset RANGE = RowSubset.range(101, 803);
  private static final RowSubset MASK =
      RowSubset.matching(ROWS, row -> KeyedHash.mix(row) % 3 != 0);
  private static final int[] LABELS =
      IntStream.range(0, ROWS).map(row -> row % 7 == 0 ? 1 : 0).toArray();
  private static final double[] WEIGHTS =
      IntStream.range(0, ROWS).mapToDouble(row -> row % 5).toArray();
  private static final long[] COSTS = LongStream.range(0, ROWS).map(row -> 1 + row % 9).toArray();

  static Stream<BatchSampler> samplers() {
    Field image = Field.fixed("image", DType.UINT8, 8, 8);
    Stream<BatchSampler> batchings =
        Stream.of(
                Samplers.sequential(),
                Samplers.shuffled(42),
                Samplers.chunked(42, 8, 12),
                Samplers.weighted(42, 300, WEIGHTS),
                Samplers.weightedWithoutReplacement(42, 200, WEIGHTS),
                Samplers.classBalanced(42, LABELS),
                Samplers.classBalanced(42, LABELS).weights(1, 2).withReplacement(300),
                Samplers.windows(4, 2, 1, Samplers.shuffled(42)),
                Samplers.windows(2, 1, 3, Samplers.shuffled(42)),
                Samplers.tiles(Samplers.shuffled(42), image, 4, 4),
                Samplers.randomCrops(42, Samplers.shuffled(42), image, 4, 4))
            .flatMap(
                sampler ->
                    Stream.of(
                        sampler.globalBatchSize(GLOBAL),
                        sampler.globalBatchSize(GLOBAL).everySample(),
                        sampler.globalBatchSize(GLOBAL).evaluation()));
    return Stream.concat(batchings, Stream.of(Samplers.costAware(42, 40, COSTS).batchesPerStep(8)));
  }

  private static List<Long> rows(BatchSampler sampler, int world, long epoch) {
    List<Long> rows = new ArrayList<>();
    long[] found = new long[sampler.space().rowsPerSample()];
    for (long sample : Epochs.ofAll(sampler, ROWS, world, epoch)) {
      sampler.space().rows(sample, found, 0);
      LongStream.of(found).forEach(rows::add);
    }
    return rows;
  }

  @ParameterizedTest
  @MethodSource("samplers")
  void readsRowsOfTheSubsetOnly(BatchSampler sampler) {
    for (RowSubset subset : List.of(RANGE, MASK)) {
      BatchSampler within = sampler.within(subset);
      for (int epoch = 0; epoch < 3; epoch++) {
        assertThat(rows(within, 3, epoch)).isNotEmpty().allMatch(subset::contains);
      }
      assertThat(within.neverWaits()).isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("samplers")
  void isTheSameForAnyNumberOfRanks(BatchSampler sampler) {
    BatchSampler within = sampler.within(MASK);
    List<List<Long>> expected = Epochs.byBatch(within, ROWS, 1, 1);
    for (int world : new int[] {2, 3, 8}) {
      assertThat(Epochs.byBatch(within, ROWS, world, 1)).as("%d ranks", world).isEqualTo(expected);
    }
  }

  /** The description of a sampler tells subsets apart. */
  @ParameterizedTest
  @MethodSource("samplers")
  void describesTheSubset(BatchSampler sampler) {
    Set<String> words = new HashSet<>();
    words.add(sampler.describe(2));
    words.add(sampler.within(RANGE).describe(2));
    words.add(sampler.within(MASK).describe(2));
    words.add(sampler.within(RowSubset.range(101, 802)).describe(2));
    words.add(sampler.within(RANGE.complement(ROWS)).describe(2));
    assertThat(words).hasSize(5);
    assertThat(sampler.within(RANGE).describe(2))
        .startsWith("within(101-803) ")
        .isEqualTo(sampler.within(RowSubset.range(101, 803)).describe(2))
        .endsWith(sampler.describe(2).replaceAll(".*/", "/"));
  }

  @ParameterizedTest
  @MethodSource("samplers")
  void withinTwiceIsWithinBoth(BatchSampler sampler) {
    BatchSampler both = sampler.within(RANGE.and(MASK));
    BatchSampler twice = sampler.within(RANGE).within(MASK);
    assertThat(twice.describe(2)).isEqualTo(both.describe(2));
    assertThat(rows(twice, 2, 1)).isEqualTo(rows(both, 2, 1));
  }

  @Test
  void everyRowOfTheSubsetComesOnce() {
    for (RowSubset subset : List.of(RANGE, MASK)) {
      List<Long> expected = LongStream.range(0, subset.size()).map(subset::row).boxed().toList();
      for (BatchSampler sampler :
          List.of(
              Samplers.sequential().globalBatchSize(GLOBAL).everySample(),
              Samplers.shuffled(1).globalBatchSize(GLOBAL).evaluation(),
              Samplers.chunked(1, 8, 3)
                  .batchSize(8)
                  .everySample()
                  .distribution(Distribution.CONTIGUOUS),
              Samplers.costAware(1, 40, COSTS))) {
        assertThat(rows(sampler.within(subset), 3, 2))
            .containsExactlyInAnyOrderElementsOf(expected);
      }
    }
  }

  /** A restricted sampler draws as one that has the values of the subset only. */
  @Test
  void valuesAreThoseOfTheRowsOfTheSubset() {
    int[] labels =
        IntStream.range(0, (int) MASK.size()).map(i -> LABELS[(int) MASK.row(i)]).toArray();
    double[] weights =
        LongStream.range(0, MASK.size()).mapToDouble(i -> WEIGHTS[(int) MASK.row(i)]).toArray();
    long[] costs = LongStream.range(0, MASK.size()).map(i -> COSTS[(int) MASK.row(i)]).toArray();
    List<List<BatchSampler>> pairs =
        List.of(
            List.of(
                Samplers.classBalanced(3, LABELS).batchSize(8),
                Samplers.classBalanced(3, labels).batchSize(8)),
            List.of(
                Samplers.weighted(3, 200, WEIGHTS).batchSize(8),
                Samplers.weighted(3, 200, weights).batchSize(8)),
            List.of(
                Samplers.weightedWithoutReplacement(3, 200, WEIGHTS).batchSize(8),
                Samplers.weightedWithoutReplacement(3, 200, weights).batchSize(8)),
            List.of(Samplers.costAware(3, 40, COSTS), Samplers.costAware(3, 40, costs)));
    for (List<BatchSampler> pair : pairs) {
      List<Long> alone = Epochs.ofAll(pair.get(1), MASK.size(), 2, 1);
      assertThat(rows(pair.get(0).within(MASK), 2, 1))
          .isEqualTo(alone.stream().map(MASK::row).toList());
    }
  }

  @Test
  void windowsAndTilesLieInTheSubsetCompletely() {
    RowSubset subset = RowSubset.ranges(3, 9, 10, 12, 20, 31);
    for (int[] form : new int[][] {{4, 2, 1}, {4, 3, 1}, {2, 1, 1}, {2, 3, 4}, {1, 1, 1}}) {
      BatchSampler windows =
          Samplers.windows(form[0], form[1], form[2], Samplers.sequential()).batchSize(1);
      Set<List<Long>> expected = new HashSet<>();
      long[] found = new long[form[0]];
      for (long sample : Epochs.ofAll(windows, 40, 1, 0)) {
        windows.space().rows(sample, found, 0);
        if (LongStream.of(found).allMatch(subset::contains)) {
          expected.add(LongStream.of(found).boxed().toList());
        }
      }
      BatchSampler within = windows.within(subset);
      Set<List<Long>> actual = new HashSet<>();
      for (long sample : Epochs.ofAll(within, 40, 1, 0)) {
        within.space().rows(sample, found, 0);
        actual.add(LongStream.of(found).boxed().toList());
      }
      assertThat(actual).as("%d, %d, %d", form[0], form[1], form[2]).isEqualTo(expected);
    }
    Field image = Field.fixed("image", DType.UINT8, 8, 8);
    Sampler tiles = Samplers.tiles(Samplers.sequential(), image, 4, 4).within(subset);
    assertThat(tiles.space().samples(40)).isEqualTo(4 * subset.size());
    int[] origin = new int[2];
    tiles.space().crop().orElseThrow().origin(0, 0, 6, origin); // the third tile of row 4
    assertThat(origin).containsExactly(4, 0);
    assertThat(tiles.space().describe()).contains("tiles(");
  }

  @Test
  void equalSharesAreThoseOfClassesWithRows() {
    int[] labels = {0, 1, 2, 0, 1, 2, 0, 1};
    RowSubset subset = RowSubset.mask(true, true, false, true, true); // no row of class 2
    ClassBalancedSampler equal = Samplers.classBalanced(1, labels);
    assertThat(new TreeSet<>(Epochs.ofAll(equal.batchSize(1).within(subset), 8, 1, 0))).hasSize(4);
    assertThatThrownBy(() -> equal.weights(1, 1, 1).within(subset))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("class 2 has the weight 1.0 and no rows: give it 0");
  }

  @Test
  void rejectsASubsetThatDoesNotFit() {
    BatchSampler beyond = Samplers.shuffled(1).batchSize(4).within(RowSubset.range(0, 1004));
    assertThatThrownBy(() -> beyond.epoch(ROWS, new WorldRank(0, 1), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "subset of rows [0, 1,004) reaches row 1,003, the store has the rows [0, 1,003): make the subset from this store");
    assertThatThrownBy(() -> Samplers.costAware(1, 9, COSTS).within(RowSubset.range(0, 1004)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "1,003 costs, but the subset has rows up to 1,003: give one for each row of the store");
    assertThatThrownBy(
            () ->
                Samplers.shuffled(1)
                    .batchSize(4)
                    .within(RowSubset.range(7, 7))
                    .epoch(ROWS, new WorldRank(0, 2), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("(0 samples an epoch) cannot give each of 2 ranks one batch of 4");
    assertThatThrownBy(() -> Samplers.windows(2, 1, 1, Samplers.shuffled(1).within(RANGE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("give an order of rows, and call within(..) on the result");
  }

  private record Halves() implements BatchSampler {
    @Override
    public EpochBatches epoch(long rows, WorldRank place, long epoch) {
      return Samplers.sequential().globalBatchSize((int) (rows / 2)).epoch(rows, place, epoch);
    }

    @Override
    public SampleSpace space() {
      return SampleSpace.ROWS;
    }

    @Override
    public String describe(int world) {
      return "halves";
    }
  }

  @Test
  void restrictsASamplerOfTheUser() {
    BatchSampler within =
        new Halves().within(RowSubset.range(10, 15)).within(RowSubset.range(0, 14));
    assertThat(within.describe(1)).isEqualTo("within(10-14) halves");
    assertThat(within.neverWaits()).isFalse();
    assertThat(rows(within, 2, 0)).containsExactly(10L, 11L, 12L, 13L);
  }
}
