package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.source.EveryType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Resident stores as tables, on two executors with two slots each. */
@Tag("system")
@Timeout(300)
class SourceOnExecutorsTest {
  private static final int ROWS = 5_000;
  private static TestCluster cluster;

  private final SparkSession spark = cluster.session();

  @BeforeAll
  static void start() {
    cluster =
        TestCluster.start(
            2,
            2,
            1024,
            Map.of("spark.sql.adaptive.enabled", "false", "spark.sql.shuffle.partitions", "4"));
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @AfterEach
  void dropAll() {
    DDStores.list(spark).forEach(ResidentStore::drop);
    cluster.assertNothingLeft();
  }

  private Dataset<Row> numbers() {
    return spark
        .range(ROWS)
        .selectExpr("id", "cast(id % 7 as int) as label", "cast(id as float) as value");
  }

  private Dataset<Row> load(String name) {
    return spark.read().format("ddstore").load(name);
  }

  private static void assertSame(Dataset<Row> actual, Dataset<Row> expected) {
    assertThat(actual.exceptAll(expected).collectAsList()).as("rows too many").isEmpty();
    assertThat(expected.exceptAll(actual).collectAsList()).as("rows missing").isEmpty();
  }

  /** The metric of the only scan of a store, after the query has run. */
  private static long metric(Dataset<Row> query, String name) {
    SparkPlan scan = query.queryExecution().executedPlan().collectLeaves().head();
    SQLMetric metric = scan.metrics().apply(name);
    return metric.value();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void everyTypeComesBackAsItWent(int ranks) {
    Dataset<Row> source = EveryType.frame(spark, ROWS);
    source
        .write()
        .format("ddstore")
        .option("ranks", ranks)
        .options(EveryType.writeOptions())
        .save("every");
    assertThat(load("every").schema()).isEqualTo(source.schema());
    assertSame(load("every"), source);
    assertSame(
        load("every").selectExpr("nested.in.v", "points[0]", "dense.values", "text"),
        source.selectExpr("nested.in.v", "points[0]", "dense.values", "text"));
  }

  @Test
  void onlyTheRowsOfTheIndexAreRead() {
    numbers().write().format("ddstore").save("n");
    Dataset<Row> between =
        spark.sql("select id, __index from ddstore.n where __index between 100 and 149");
    assertThat(between.collectAsList())
        .hasSize(50)
        .allMatch(row -> row.getLong(0) == row.getLong(1) && row.getLong(0) / 50 == 2);
    assertThat(metric(between, "ddstoreRows")).isEqualTo(50);

    Dataset<Row> in =
        spark.sql(
            "select id from ddstore.n where __index in (4999, 3, 7, 8, 9, 10, 11, 2500, 12, 13, 14, 15, 7)");
    assertThat(in.collectAsList().stream().map(row -> row.getLong(0)))
        .containsExactlyInAnyOrder(3L, 7L, 8L, 9L, 10L, 11L, 12L, 13L, 14L, 15L, 2500L, 4999L);
    assertThat(metric(in, "ddstoreRows")).isEqualTo(12);

    Dataset<Row> mixed =
        spark.sql("select id from ddstore.n where __index < 70 and label = 3 and id > 20");
    assertThat(mixed.collectAsList().stream().map(row -> row.getLong(0)))
        .containsExactlyInAnyOrder(24L, 31L, 38L, 45L, 52L, 59L, 66L);
    assertThat(metric(mixed, "ddstoreRows")).isEqualTo(70);

    Dataset<Row> first = load("n").limit(11);
    assertThat(first.collectAsList()).hasSize(11);
    assertThat(metric(first, "ddstoreRows")).isEqualTo(11);
  }

  @Test
  void onlyTheColumnsWantedAreRead() {
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
  void viewsHaveTheIndexInAColumn() {
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

  @ParameterizedTest
  @EnumSource(SaveMode.class)
  void allModesOfAWriteHoldForNewAndOldStores(SaveMode mode) {
    Dataset<Row> ten = spark.range(10).toDF();
    Dataset<Row> three = spark.range(100, 103).toDF();
    ten.write().format("ddstore").mode(mode).save("m");
    assertSame(load("m"), ten);
    if (mode == SaveMode.ErrorIfExists) {
      assertThatThrownBy(() -> three.write().format("ddstore").mode(mode).save("m"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("a store \"m\" is there already: drop it");
      assertSame(load("m"), ten);
      return;
    }
    three.write().format("ddstore").mode(mode).save("m");
    assertSame(
        load("m"),
        switch (mode) {
          case Append -> ten.union(three);
          case Overwrite -> three;
          default -> ten;
        });
  }

  @Test
  void anOverwriteThatFailsLeavesTheOldRows() {
    Dataset<Row> ten = spark.range(10).toDF();
    ten.write().format("ddstore").save("m");
    Dataset<Row> bad = spark.range(10).selectExpr("if(id = 7, null, id) as id");
    assertThatThrownBy(() -> bad.write().format("ddstore").mode("overwrite").save("m"))
        .hasStackTraceContaining("null");
    assertSame(load("m"), ten);
    load("m").selectExpr("id + 1 as id").write().format("ddstore").mode("overwrite").save("m");
    assertSame(load("m"), spark.range(1, 11).toDF());
  }

  @Test
  void sqlMakesFillsAndDropsStores() {
    numbers().createOrReplaceTempView("numbers");
    spark.sql("create table ddstore.t options (ranks 2, orderBy 'value') as select * from numbers");
    assertThat(DDStores.open(spark, "t").ranks()).isEqualTo(2);
    assertSame(spark.table("ddstore.t"), numbers());
    spark.sql("insert into ddstore.t select -1L, 2, 3.5f");
    assertThat(spark.sql("select * from ddstore.t where __index = " + ROWS).collectAsList())
        .hasToString("[[-1,2,3.5]]");
    spark.sql("insert overwrite ddstore.t select * from numbers where id < 10");
    assertThat(load("t").count()).isEqualTo(10);
    spark.sql("create or replace table ddstore.t as select 'text' as a");
    assertThat(load("t").collectAsList()).hasToString("[[text]]");
    spark.range(5).writeTo("ddstore.u").option("ranks", "1").createOrReplace();
    assertThat(spark.sql("show tables in ddstore").select("tableName").collectAsList())
        .hasToString("[[t], [u]]");
    assertThatThrownBy(() -> spark.sql("create table ddstore.t as select 1"))
        .isInstanceOf(AnalysisException.class)
        .hasMessageContaining("already exists");
    assertThatThrownBy(() -> spark.sql("create table ddstore.w (a int)"))
        .hasMessageContaining("a store is made of rows: CREATE TABLE ddstore.w AS SELECT");
    spark.sql("drop table ddstore.t");
    spark.sql("drop table ddstore.u");
    assertThat(DDStores.list(spark)).isEmpty();
    assertThatThrownBy(() -> spark.table("ddstore.t")).isInstanceOf(AnalysisException.class);
  }

  @Test
  void whatIsWrongIsNamed() {
    numbers().write().format("ddstore").save("n");
    assertThatThrownBy(() -> load("m"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"m\"")
        .hasMessageContaining("n");
    assertThatThrownBy(() -> spark.read().format("ddstore").load())
        .hasMessageContaining("no store is named");
    assertThatThrownBy(() -> spark.read().format("ddstore").option("index", "i").load("n"))
        .hasMessageContaining("option \"index\" of format \"ddstore\" is unknown; to read there");
    assertThatThrownBy(
            () -> spark.read().format("ddstore").option("indexColumn", "Label").load("n"))
        .hasMessageContaining("option \"indexColumn\" is \"Label\", but store \"n\" has such");
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
