// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.loader.Columns;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.RowClasses;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.RowSubset;
import org.ddstore.sampling.Samplers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values that samplers take from columns of a store that ranks of two executors share. */
@Tag("system")
@Timeout(300)
class ColumnsOnExecutorsTest extends OnTwoExecutors {
  private static final int NUMBERS = 1003;
  private static final int MORE = 50;

  private static Dataset<Row> frame(long from, long to) {
    return cluster
        .session()
        .range(from, to, 1, 3)
        .selectExpr(
            "id",
            "double(id % 5) as weight",
            "sequence(0, int(id % 7)) as edges",
            "concat('kind ', char(int(65 + id * 7 % 3))) as kind",
            "id % 10 < 8 as is_train",
            "if(id = 777, double('NaN'), 1.0D) as faulty");
  }

  private static StoreSpec numbers() {
    return DDStores.from(frame(0, NUMBERS)).maxAttempts(1);
  }

  /** Returns the columns that a rank gets. */
  private static List<Object> columns(RankContext rank) {
    Columns columns = rank.columns();
    RowClasses kinds = columns.classes("kind");
    RowSubset train = columns.where("is_train");
    return List.of(
        columns.weights("weight"),
        columns.lengths("edges"),
        kinds.labels(),
        kinds.names(),
        LongStream.range(0, train.size()).map(train::row).toArray());
  }

  private static void assertColumns(List<List<Object>> ranks, int rows) {
    List<Object> expected =
        List.of(
            IntStream.range(0, rows).mapToDouble(row -> row % 5).toArray(),
            IntStream.range(0, rows).mapToLong(row -> row % 7 + 1).toArray(),
            IntStream.range(0, rows).map(row -> row * 7 % 3).toArray(),
            List.of("kind A", "kind B", "kind C"),
            LongStream.range(0, rows).filter(row -> row % 10 < 8).toArray());
    assertThat(ranks).allSatisfy(rank -> assertThat(rank).containsExactlyElementsOf(expected));
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "4, 4", "4, 2"})
  void areTheSameOnAllRanks(int ranks, int width) {
    assertColumns(
        numbers().ranks(ranks).width(width).run(ColumnsOnExecutorsTest::columns), NUMBERS);
  }

  @Test
  void haveTheRowsOfAResidentStoreAndItsAppends() {
    ResidentStore store = numbers().ranks(2).load("columns");
    try {
      store.append(frame(NUMBERS, NUMBERS + MORE));
      assertColumns(store.run(ColumnsOnExecutorsTest::columns), NUMBERS + MORE);
    } finally {
      store.drop();
    }
  }

  @Test
  void anIllegalValueEndsTheTaskAndIsNamed() {
    assertThatThrownBy(() -> numbers().run(rank -> rank.columns().weights("faulty").length))
        .hasMessageContaining(
            "weights(\"faulty\"): row 777 of \"rows\" has the value NaN, legal: 0 or more, and finite");
  }

  /** Counts the samples that it is given. */
  private static final class Model {
    private long trained;
    private long tested;

    void train(LoadedBatch batch) {
      trained += batch.samples();
    }

    void test(LoadedBatch batch) {
      tested += batch.samples() - batch.padding();
    }
  }

  private static long[] trainAndValidate(RankContext rank) {
    Model model = new Model();
    RowSubset train = rank.columns().where("is_train"); // or RowSubset.range(0, 8_000)
    RowSubset others = train.complement(rank.rows().rows());
    BatchSampler shuffled = Samplers.shuffled(42).within(train).globalBatchSize(128);
    BatchSampler once = Samplers.sequential().within(others).globalBatchSize(128).evaluation();
    try (Loader training = rank.loader(shuffled);
        Loader validation = rank.loader(once)) {
      for (int epoch = 0; epoch < 2; epoch++) {
        training.epoch(epoch).forEach(model::train);
        validation.epoch(epoch).forEach(model::test);
      }
    }
    return new long[] {model.trained, model.tested};
  }

  @Test
  void oneStoreServesTrainingAndValidation() {
    List<long[]> counts = numbers().ranks(3).run(ColumnsOnExecutorsTest::trainAndValidate);
    long train = LongStream.range(0, NUMBERS).filter(row -> row % 10 < 8).count();
    assertThat(counts.stream().mapToLong(count -> count[0]).sum())
        .isEqualTo(2 * (train - train % 128));
    assertThat(counts.stream().mapToLong(count -> count[1]).sum()).isEqualTo(2 * (NUMBERS - train));
  }
}
