// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Resident stores as tables, on two executors with two slots each. */
@Tag("system")
@Timeout(300)
class SourceOnExecutorsTest extends SourceOnCluster {
  private static final int ROWS = 5_000;

  @BeforeAll
  static void start() {
    start(2, 2);
  }

  private Dataset<Row> numbers() {
    return spark
        .range(ROWS)
        .selectExpr("id", "cast(id % 7 as int) as label", "cast(id as float) as value");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  @Tag("slow")
  void roundTripsEveryType(int ranks) {
    Dataset<Row> source = EveryType.frame(spark, ROWS);
    source
        .write()
        .format("ddstore")
        .option("ranks", ranks)
        .options(EveryType.writeOptions())
        .save("every");
    assertThat(read("every").schema()).isEqualTo(source.schema());
    assertSame(read("every"), source);
    assertSame(
        read("every").selectExpr("nested.in.v", "points[0]", "dense.values", "text"),
        source.selectExpr("nested.in.v", "points[0]", "dense.values", "text"));
  }

  @Test
  void readsOnlyTheRowsSelectedByIndex() {
    numbers().write().format("ddstore").save("n");
    Dataset<Row> between =
        spark.sql("select id, __index from ddstore.n where __index between 100 and 149");
    assertThat(between.collectAsList())
        .hasSize(50)
        .allMatch(row -> row.getLong(0) == row.getLong(1) && row.getLong(0) / 50 == 2);
    assertThat(metric(between, "ddstoreRows")).isEqualTo(50);
    assertThat(metric(between, "ddstoreRowsSkipped")).isEqualTo(ROWS - 50);
    assertThat(metric(between, "ddstoreReadTime")).isPositive();
    assertThat(metric(between, "ddstoreWaitTime")).as("no row of another host").isZero();
    assertThat(new ScanMetric.ReadTime().aggregateTaskMetrics(new long[] {2_000_000, 3_000_000}))
        .isEqualTo("5 ms (slowest task 3 ms)");

    Dataset<Row> in =
        spark.sql(
            "select id from ddstore.n where __index in (4999, 3, 7, 8, 9, 10, 11, 2500, 12, 13, 14,"
                + " 15, 7)");
    assertThat(in.collectAsList().stream().map(row -> row.getLong(0)))
        .containsExactlyInAnyOrder(3L, 7L, 8L, 9L, 10L, 11L, 12L, 13L, 14L, 15L, 2500L, 4999L);
    assertThat(metric(in, "ddstoreRows")).isEqualTo(12);

    Dataset<Row> inWithNull =
        spark.sql("select id from ddstore.n where __index in (7, null, 4999) or __index < 2");
    assertThat(inWithNull.collectAsList().stream().map(row -> row.getLong(0)))
        .containsExactlyInAnyOrder(0L, 1L, 7L, 4999L);
    assertThat(metric(inWithNull, "ddstoreRows")).isEqualTo(4);
    assertThat(spark.sql("select id from ddstore.n where __index not in (7, null)").collectAsList())
        .isEmpty();

    Dataset<Row> mixed =
        spark.sql("select id from ddstore.n where __index < 70 and label = 3 and id > 20");
    assertThat(mixed.collectAsList().stream().map(row -> row.getLong(0)))
        .containsExactlyInAnyOrder(24L, 31L, 38L, 45L, 52L, 59L, 66L);
    assertThat(metric(mixed, "ddstoreRows")).isEqualTo(70);

    Dataset<Row> first = read("n").limit(11);
    assertThat(first.collectAsList()).hasSize(11);
    assertThat(metric(first, "ddstoreRows")).isEqualTo(11);
  }

  @Test
  void readsOnlyTheSelectedColumns() {
    numbers().write().format("ddstore").option("ranks", "2").save("n");
    Dataset<Row> sum = spark.sql("select sum(value) from ddstore.n");
    assertThat(sum.collectAsList().get(0).getDouble(0)).isEqualTo(ROWS * (ROWS - 1) / 2.0);
    assertThat(metric(sum, "ddstoreRows")).isEqualTo(ROWS);
    assertThat(metric(sum, "ddstoreBytes")).isEqualTo(ROWS * 4L);
    assertThat(
            metric(sum, "ddstoreRowsOwnProcess")
                + metric(sum, "ddstoreRowsSameHost")
                + metric(sum, "ddstoreRowsRemote"))
        .isEqualTo(ROWS);
  }

  @Test
  void countsReadNothing() {
    numbers().write().format("ddstore").save("n");
    for (String query :
        List.of("select count(*) from ddstore.n", "select count(1), count(*) from ddstore.n")) {
      Dataset<Row> count = spark.sql(query);
      assertThat(count.collectAsList().get(0).getLong(0)).isEqualTo(ROWS);
      assertThat(count.queryExecution().executedPlan().toString())
          .contains("LocalTableScan")
          .doesNotContain("BatchScan");
    }
    assertThat(
            spark
                .sql("select count(*) from ddstore.n where __index >= 4000 and __index <> 4444")
                .collectAsList()
                .get(0)
                .getLong(0))
        .isEqualTo(999);
    assertThat(spark.sql("select count(*) from ddstore.n where label = 3").collectAsList())
        .isEqualTo(numbers().where("label = 3").groupBy().count().collectAsList());
  }

  @Test
  void viewsExposeTheIndexAsAColumn() {
    numbers().write().format("ddstore").save("n");
    spark.sql(
        "create or replace temporary view v using ddstore options (name 'n', indexColumn 'idx')");
    assertThat(spark.table("v").columns()).containsExactly("id", "label", "value", "idx");
    Dataset<Row> rows = spark.sql("select idx, id from v where idx >= 4990 or idx in (1, 2)");
    assertThat(rows.collectAsList()).hasSize(12).allMatch(row -> row.getLong(0) == row.getLong(1));
    assertThat(metric(rows, "ddstoreRows")).isEqualTo(12);
    assertThat(spark.sql("select max(idx) from v").collectAsList().get(0).getLong(0))
        .isEqualTo(ROWS - 1);
    spark.catalog().dropTempView("v");
  }

  @Test
  void readsShardsInTheExecutorsThatHoldThem() {
    int rows = 2_000;
    Dataset<Row> source =
        spark.range(rows).selectExpr("id", "transform(sequence(0, 799), i -> float(id + i)) as x");
    source.write().format("ddstore").option("ranks", "2").save("large");
    Dataset<Row> sums =
        spark.sql("select id, aggregate(x, 0F, (sum, v) -> sum + v) as sum from ddstore.large");
    assertThat(sums.collectAsList()).hasSize(rows);
    assertThat(metric(sums, "ddstoreRowsOwnProcess")).isEqualTo(rows);
    assertThat(metric(sums, "ddstoreBytes")).isEqualTo(rows * (8 + 4 * 800L));
    Dataset<Row> together = read("large").coalesce(1);
    assertSame(together, source);
    together.collectAsList();
    SparkPlan scan = together.queryExecution().executedPlan().collectLeaves().head();
    assertThat(scan.metrics().apply("ddstoreRowsOwnProcess").value()).isEqualTo(rows / 2);
    assertThat(scan.metrics().apply("ddstoreRowsSameHost").value()).isEqualTo(rows / 2);
  }

  @Test
  void broadcastsSmallStoresByCatalogStatistics() {
    numbers().write().format("ddstore").option("ranks", "2").save("n");
    Statistics all = read("n").queryExecution().optimizedPlan().stats();
    assertThat(all.rowCount().get().longValue()).isEqualTo(ROWS);
    assertThat(all.sizeInBytes().longValue()).isBetween(ROWS * 15L, ROWS * 18L);
    Statistics ten =
        spark
            .sql("select id from ddstore.n where __index < 10")
            .queryExecution()
            .optimizedPlan()
            .stats();
    assertThat(ten.rowCount().get().longValue()).isEqualTo(10);
    assertThat(ten.sizeInBytes().longValue()).isBetween(40L, 160L);
    Statistics none =
        spark
            .sql("select id from ddstore.n where __index = 999999")
            .queryExecution()
            .optimizedPlan()
            .stats();
    assertThat(none.sizeInBytes().longValue()).isPositive();
    Dataset<Row> joined =
        spark.range(1_000_000).selectExpr("id as key").join(read("n"), functions.expr("key = id"));
    assertThat(joined.queryExecution().executedPlan().toString())
        .contains("BroadcastHashJoin [key", "BuildRight");
    assertThat(joined.selectExpr("sum(key)", "sum(label)", "count(*)").collectAsList())
        .isEqualTo(numbers().selectExpr("sum(id)", "sum(label)", "count(*)").collectAsList());
    spark.conf().set("spark.sql.autoBroadcastJoinThreshold", "20000");
    try {
      assertThat(
              spark
                  .range(1_000_000)
                  .join(read("n"), "id")
                  .queryExecution()
                  .executedPlan()
                  .toString())
          .contains("SortMergeJoin");
    } finally {
      spark.conf().unset("spark.sql.autoBroadcastJoinThreshold");
    }
  }

  @Test
  void userTasksAndFunctionsAttachByTheHandle() {
    numbers().write().format("ddstore").option("ranks", "2").save("n");
    StoreHandle handle = DDStores.open(spark, "n").handle();
    MapPartitionsFunction<Long, String> lookUp =
        keys -> {
          List<Long> all = new ArrayList<>();
          keys.forEachRemaining(all::add);
          long[] wanted = all.stream().mapToLong(Long::longValue).toArray();
          try (StoreReader store = handle.attach();
              Reader reader = store.rows().reader("value", "id");
              Batch batch = reader.getBatch(wanted)) {
            List<String> rows = new ArrayList<>();
            for (int i = 0; i < wanted.length; i++) {
              rows.add(batch.field("id").getLong(i) + " " + batch.field("value").getFloat(i));
            }
            return rows.iterator();
          }
        };
    Dataset<Long> keys = spark.range(0, ROWS, 3, 5).as(Encoders.LONG());
    assertThat(keys.mapPartitions(lookUp, Encoders.STRING()).collectAsList())
        .containsExactlyInAnyOrderElementsOf(
            LongStream.range(0, ROWS)
                .filter(id -> id % 3 == 0)
                .mapToObj(id -> id + " " + (float) id)
                .toList());
    UDF1<Long, Integer> label =
        key -> {
          try (StoreReader store = handle.attach();
              Reader reader = store.rows().reader("label");
              Batch batch = reader.getBatch(key)) {
            return (int) batch.field("label").getLong(0);
          }
        };
    spark.udf().register("label_of", label, DataTypes.IntegerType);
    assertThat(
            spark
                .sql("select count(*) from range(0, 200, 1, 4) where label_of(id) <> id % 7")
                .collectAsList())
        .hasToString("[[0]]");
  }

  @Test
  void wrongOptionsAndStoresAreNamed() {
    numbers().write().format("ddstore").save("n");
    assertThatThrownBy(
            () -> spark.sql("create temporary view w using ddstore options (name 'n', column 'i')"))
        .hasMessageContaining(
            "option \"column\" of format \"ddstore\" is unknown; options of a read are")
        .hasMessageContaining("indexColumn");
    assertThatThrownBy(
            () -> spark.sql("create temporary view w using ddstore options (name 'other')"))
        .hasMessageContaining("no store \"other\" in this application; known stores: [n]");
    assertThatThrownBy(() -> read("m"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"m\"")
        .hasMessageContaining("n");
    assertThatThrownBy(() -> spark.read().format("ddstore").load())
        .hasMessageContaining("no store name");
    assertThatThrownBy(() -> spark.read().format("ddstore").option("index", "i").load("n"))
        .hasMessageContaining(
            "option \"index\" of format \"ddstore\" is unknown; options of a read are");
    assertThatThrownBy(
            () -> spark.read().format("ddstore").option("indexColumn", "Label").load("n"))
        .hasMessageContaining(
            "option \"indexColumn\" is \"Label\", but store \"n\" has a column of that name");
    assertThatThrownBy(() -> spark.range(3).write().format("ddstore").save("no name"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no name");
    assertThatThrownBy(() -> numbers().write().partitionBy("label").format("ddstore").save("parts"))
        .hasMessageContaining("partition");
    assertThatThrownBy(
            () -> spark.read().schema("id int").format("ddstore").load("n").collectAsList())
        .hasMessageContaining("store \"n\" has the columns");
  }

  @Test
  void appliesOptionsOfAScan() {
    numbers().write().format("ddstore").save("n");
    assertThat(
            spark
                .read()
                .option("INDEXCOLUMN", "i")
                .format("ddstore")
                .option("name", "n")
                .load("n")
                .where("i = 7")
                .collectAsList())
        .hasSize(1);
    assertThat(spark.read().option("name", "n").table("ddstore.n").collectAsList()).hasSize(ROWS);
    assertThatThrownBy(() -> spark.read().option("index", "i").table("ddstore.n").collectAsList())
        .hasMessageContaining(
            "option \"index\" of format \"ddstore\" is unknown; options of a read");
    assertThatThrownBy(
            () -> spark.read().option("indexColumn", "i").table("ddstore.n").collectAsList())
        .hasMessageContaining("option \"indexColumn\" is \"i\", but ddstore.n is looked up without")
        .hasMessageContaining("read().format(\"ddstore\").load(\"n\")");
    assertThatThrownBy(() -> spark.read().option("name", "m").table("ddstore.n").collectAsList())
        .hasMessageContaining(
            "conflicting store names: the table is ddstore.n, but its options name");
    assertThatThrownBy(
            () ->
                spark
                    .read()
                    .schema(numbers().schema())
                    .option("index", "i")
                    .format("ddstore")
                    .load("n")
                    .collectAsList())
        .hasMessageContaining(
            "option \"index\" of format \"ddstore\" is unknown; options of a read");
  }

  @Test
  void sqlAnswersWhileRanksAreInsideAnEpoch(@TempDir Path gate) throws Exception {
    numbers().write().format("ddstore").option("ranks", "3").save("n");
    ResidentStore store = DDStores.open(spark, "n");
    String folder = gate.toString();
    CompletableFuture<List<Long>> ranks =
        CompletableFuture.supplyAsync(
            () -> store.run(context -> epochUntilTheGateOpens(context, folder)));
    try {
      await("3 ranks are inside their epoch")
          .atMost(2, TimeUnit.MINUTES)
          .until(() -> ranks.isDone() || inside(gate).size() == 3);
      for (int i = 0; i < 3; i++) {
        assertThat(spark.sql("select sum(id) from ddstore.n").collectAsList().get(0).getLong(0))
            .isEqualTo(ROWS * (ROWS - 1L) / 2);
      }
      assertThat(inside(gate)).as("ranks inside their epoch afterwards").hasSize(3);
      assertThat(ranks).isNotDone();
    } finally {
      Files.createFile(gate.resolve("open"));
    }
    assertThat(ranks.get(2, TimeUnit.MINUTES)).hasSize(3).allMatch(rows -> rows >= ROWS);
    assertThat(inside(gate)).as("ranks inside their epoch at the end").isEmpty();
  }

  private static List<Path> inside(Path gate) throws IOException {
    try (Stream<Path> files = Files.list(gate)) {
      return files.filter(file -> file.getFileName().toString().startsWith("inside")).toList();
    }
  }

  /** A file tells that this rank is between the beginning and the end of its epoch. */
  private static long epochUntilTheGateOpens(RankContext context, String gate) throws IOException {
    Path inside = Path.of(gate, "inside-" + context.rank());
    long rows = 0;
    try (Reader reader = context.rows().reader()) {
      context.store().epochBegin();
      Files.createFile(inside);
      while (rows < ROWS || !Files.exists(Path.of(gate, "open"))) {
        try (Batch batch = reader.getBatch(rows % ROWS, (rows + 17) % ROWS)) {
          rows += batch.rows();
        }
      }
      Files.delete(inside);
      context.store().epochEnd();
    }
    return rows;
  }
}
