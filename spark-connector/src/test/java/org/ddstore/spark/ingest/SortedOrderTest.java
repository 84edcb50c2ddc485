// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.types.SourceChangedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows sorted by columns, shuffled by a seed, or from plans without an order of their own. */
class SortedOrderTest {
  private static final String SPLIT_BYTES = "spark.sql.files.maxPartitionBytes";
  private static final long ROWS = 5_000;

  @TempDir static Path folder;

  private static String parquet;

  @BeforeAll
  static void write() {
    parquet = folder.resolve("data").toString();
    Sparks.local()
        .range(0, ROWS, 1, 3)
        .selectExpr(
            "id",
            "id * 7919 % 5000 as scattered",
            "nullif(id * 31 % 13, 0) as k",
            "1 as one",
            "named_struct('c', -id) as s")
        .write()
        .option("parquet.block.size", 8 << 10)
        .option("parquet.page.size", 4 << 10)
        .parquet(parquet);
  }

  @AfterEach
  void resetSettings() {
    Sparks.local().conf().unset(SPLIT_BYTES);
  }

  private static Dataset<Row> read() {
    return Sparks.local().read().parquet(parquet);
  }

  private static List<Object> ids(Dataset<Row> sorted) {
    return sorted.select("id").collectAsList().stream().map(row -> row.get(0)).toList();
  }

  private static Loads.Loaded load(Dataset<Row> df, IngestOptions options, int ranks) {
    return Loads.load(df, options, ranks);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7})
  void ordersByColumnsThenByFilePosition(int ranks) {
    Sparks.local().conf().set(SPLIT_BYTES, ranks == 3 ? "9k" : "128m");
    IngestOptions options = IngestOptions.defaults().columns("id").orderBy("k", "one");
    List<Object> expected =
        ids(read().orderBy("k", "one", "_metadata.file_path", "_metadata.row_index"));

    Loads.Loaded loaded = load(read(), options, ranks);

    assertThat(loaded.column("id")).isEqualTo(expected);
  }

  @Test
  void ordersByAFieldOfAStruct() {
    IngestOptions options = IngestOptions.defaults().columns("id").orderBy("s.c");

    assertThat(load(read(), options, 2).column("id")).isEqualTo(ids(read().orderBy("s.c")));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  @Tag("slow")
  void balancesEqualKeys(int ranks) {
    IngestOptions options = IngestOptions.defaults().columns("id").orderBy("one");

    Loads.Loaded loaded = load(read(), options, ranks);

    assertThat(loaded.shardRows())
        .allMatch(rows -> rows == ROWS / ranks || rows == ROWS / ranks + 1);
    assertThat(loaded.column("id"))
        .isEqualTo(ids(read().orderBy("_metadata.file_path", "_metadata.row_index")));
  }

  @Test
  @Tag("slow")
  void shuffleIsIndependentOfRanksAndSplits() {
    IngestOptions options = IngestOptions.defaults().columns("id").shuffle(42);
    List<Object> once = load(read(), options, 1).column("id");

    assertThat(load(read(), options, 2).column("id")).isEqualTo(once);
    Sparks.local().conf().set(SPLIT_BYTES, "9k");
    assertThat(load(read(), options, 3).column("id")).isEqualTo(once);
    assertThat(once)
        .isNotEqualTo(ids(read()))
        .containsExactlyInAnyOrderElementsOf(ids(read()))
        .isNotEqualTo(load(read(), options.shuffle(43), 1).column("id"));
  }

  @Test
  void rejectsOrderTogetherWithShuffle() {
    assertThatThrownBy(() -> IngestOptions.defaults().shuffle(3).orderBy("a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("rows are either ordered by [a] or shuffled with seed 3, not both");
  }

  @Test
  void literalRowsNeedNoWarning() {
    SparkSession spark = Sparks.local();
    for (Dataset<Row> df :
        List.of(
            spark.range(0, 1000, 1, 7).toDF(), spark.sql("select * from values 1, 5, 3 t(id)"))) {
      try (IngestPlan plan = IngestPlan.of(df, IngestOptions.defaults(), 3)) {
        assertThat(plan.warnings()).isEmpty();
        assertThat(Loads.run(plan, 3).column("id")).isEqualTo(ids(df));
      }
    }
  }

  @Test
  void storesOtherPlansWithAWarning() {
    Dataset<Row> shuffled = read().repartition(5).select("id");
    try (IngestPlan plan = IngestPlan.of(shuffled, IngestOptions.defaults(), 3)) {
      assertThat(plan.warnings()).singleElement().asString().contains("not reproducible");
      assertThat(plan.route()).contains("stored");
      List<Object> once = Loads.run(plan, 3).column("id");
      assertThat(Loads.run(plan, 3).column("id")).isEqualTo(once);
      assertThat(once).containsExactlyInAnyOrderElementsOf(ids(read()));
    }
    assertThat(Sparks.local().sparkContext().getPersistentRDDs().size()).isZero();
  }

  @Test
  void rejectsARecomputedStoredPartition() {
    Dataset<Row> shuffled = read().repartition(5).select("id");
    for (IngestOptions options :
        List.of(IngestOptions.defaults(), IngestOptions.defaults().shuffle(3))) {
      boolean isSorted = options.shuffleSeed().isPresent();
      try (IngestPlan plan = IngestPlan.of(shuffled, options, 3)) {
        StoredBlocks.storeReversed(StoredBlocks.only(Sparks.local(), 0), isSorted ? 2 : 1);

        assertThatThrownBy(() -> Loads.run(plan, 3))
            .isInstanceOf(SourceChangedException.class)
            .hasMessageStartingWith(
                "rows of stored partition 0 were recomputed after the load was planned, because");
      }
    }
  }

  @Test
  void rejectsALostStoredPartition() {
    try (IngestPlan plan =
        IngestPlan.of(read().repartition(5).select("id"), IngestOptions.defaults(), 3)) {
      SparkEnv.get().blockManager().removeBlock(StoredBlocks.only(Sparks.local(), 1), true);

      assertThatThrownBy(() -> Loads.run(plan, 3))
          .hasStackTraceContaining(
              "SourceChangedException: rows of stored partition 1 cannot be read because the executor"
                  + " that stored them is lost");
    }
  }

  @Test
  void storesCachedFramesWithAWarning() {
    Dataset<Row> cached = read().drop("k").cache();
    try (IngestPlan plan = IngestPlan.of(cached, IngestOptions.defaults(), 2)) {
      assertThat(plan.warnings()).hasSize(1);
      assertThat(Loads.run(plan, 2).column("id")).isEqualTo(ids(cached));
    } finally {
      cached.unpersist(true);
    }
  }

  @Test
  void ordersAndShufflesOtherPlans() {
    Dataset<Row> grouped = read().groupBy("scattered").count();
    IngestOptions byKey = IngestOptions.defaults().orderBy("scattered");
    try (IngestPlan plan = IngestPlan.of(grouped, byKey, 3)) {
      assertThat(plan.warnings()).singleElement().asString().contains("[scattered]");
      assertThat(Loads.run(plan, 3).column("scattered"))
          .isEqualTo(java.util.stream.LongStream.range(0, ROWS).boxed().toList());
    }
    assertThat(load(grouped, IngestOptions.defaults().shuffle(1), 2).rows()).hasSize((int) ROWS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"true", "false"})
  void adaptiveExecutionKeepsTheOrder(String force) {
    SparkSession spark = Sparks.local();
    spark.conf().set("spark.sql.adaptive.forceApply", force);
    try {
      assertThat(load(read().select("id"), IngestOptions.defaults(), 3).column("id"))
          .isEqualTo(ids(read().orderBy("_metadata.file_path", "_metadata.row_index")));
    } finally {
      spark.conf().unset("spark.sql.adaptive.forceApply");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void loadsEmptyAndTinyFrames(int ranks) {
    for (String where : List.of("false", "id = 17", "id < 2")) {
      for (IngestOptions options :
          List.of(
              IngestOptions.defaults(),
              IngestOptions.defaults().orderBy("one"),
              IngestOptions.defaults().shuffle(1))) {
        Dataset<Row> few = read().where(where).select("id", "one");
        assertThat(load(few, options, ranks).column("id"))
            .containsExactlyInAnyOrderElementsOf(ids(few));
      }
    }
    Dataset<Row> none = Sparks.local().range(0).toDF();
    assertThat(load(none, IngestOptions.defaults(), ranks).rows()).isEmpty();
  }
}
