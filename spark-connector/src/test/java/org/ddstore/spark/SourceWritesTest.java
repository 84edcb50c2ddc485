// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.source.EveryType;
import org.ddstore.spark.source.SourceOnCluster;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.StoreChangedException;
import org.ddstore.spark.wire.LogTap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of stores written as tables, on two executors with two slots each. */
@Tag("system")
@Timeout(300)
class SourceWritesTest extends SourceOnCluster {
  @BeforeAll
  static void start() {
    start(2, 2);
  }

  @ParameterizedTest
  @EnumSource(SaveMode.class)
  void appliesEverySaveModeToNewAndExistingStores(SaveMode mode) {
    Dataset<Row> ten = spark.range(10).toDF();
    Dataset<Row> three = spark.range(100, 103).toDF();
    ten.write().format("ddstore").mode(mode).save("m");
    assertSame(read("m"), ten);
    if (mode == SaveMode.ErrorIfExists) {
      assertThatThrownBy(() -> three.write().format("ddstore").mode(mode).save("m"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("store \"m\" already exists: drop it");
      assertSame(read("m"), ten);
      return;
    }
    three.write().format("ddstore").mode(mode).save("m");
    assertSame(
        read("m"),
        switch (mode) {
          case Append -> ten.union(three);
          case Overwrite -> three;
          default -> ten;
        });
  }

  @Test
  void failedOverwriteKeepsTheOldRows() {
    Dataset<Row> ten = spark.range(10).toDF();
    ten.write().format("ddstore").save("m");
    Dataset<Row> bad = spark.range(10).selectExpr("if(id = 7, null, id) as id");
    assertThatThrownBy(() -> bad.write().format("ddstore").mode("overwrite").save("m"))
        .hasStackTraceContaining("null");
    assertSame(read("m"), ten);
    spark.sparkContext().setLogLevel("WARN");
    try (LogTap log = LogTap.open()) {
      read("m").selectExpr("id + 1 as id").write().format("ddstore").mode("overwrite").save("m");
      spark.sql("insert into ddstore.m select id from ddstore.m where id = 10");
      assertThat(log.of(StoreLauncher.class, ResidentStore.class))
          .filteredOn(line -> line.startsWith("store \"m\" is written from its own rows"))
          .as("one warning for each write of a store into itself")
          .hasSize(2);
    } finally {
      spark.sparkContext().setLogLevel("OFF");
    }
    assertSame(read("m"), spark.range(1, 11).union(spark.range(10, 11)).toDF());
  }

  @Test
  void rejectsAnOverwriteWithStaleCachedRows() {
    spark.range(10).write().format("ddstore").option("ranks", 2).save("t");
    ResidentStore store = DDStores.open(spark, "t");
    Dataset<Row> cached = read("t").where("id >= 0").cache();
    try {
      assertThat(cached.count()).isEqualTo(10);
      store.append(spark.range(10, 15).toDF());
      assertThatThrownBy(() -> cached.write().format("ddstore").mode("overwrite").save("t"))
          .isInstanceOf(StoreChangedException.class)
          .hasMessageContaining("store \"t\" was written after Spark cached the rows")
          .hasMessageContaining("15 rows now");
      assertThat(DDStores.open(spark, "t").rows()).isEqualTo(15);
      cached.unpersist(true);
      cached.write().format("ddstore").mode("overwrite").save("t");
      assertThat(DDStores.open(spark, "t").rows()).isEqualTo(15);
    } finally {
      cached.unpersist(true);
    }
  }

  @Test
  void oneRowIsWrittenByFourRanks() {
    rowsAreWrittenByFourRanks(1);
  }

  @ParameterizedTest
  @Tag("slow")
  @ValueSource(ints = {0, 3})
  void rowsAreWrittenByFourRanks(int rows) {
    Dataset<Row> source = EveryType.frame(spark, rows);
    source
        .write()
        .format("ddstore")
        .option("ranks", "4")
        .options(EveryType.writeOptions())
        .save("few");
    assertThat(read("few").schema()).isEqualTo(source.schema());
    assertSame(read("few"), source);
    assertThat(read("few").count()).isEqualTo(rows);
    assertThat(spark.sql("select id from ddstore.few where __index >= 1").collectAsList())
        .hasSize(Math.max(0, rows - 1));
    labelled().limit(rows).write().format("ddstore").option("ranks", "4").save("growing");
    spark.sql("insert into ddstore.growing select * from ddstore.growing where false");
    spark.sql("insert into ddstore.growing select -1L, 2, 3.5f");
    assertThat(
            spark
                .sql("select id, label, value from ddstore.growing where __index = " + rows)
                .collectAsList())
        .hasToString("[[-1,2,3.5]]");
  }

  @Test
  void rejectedRowsAreReportedInTermsOfSql() {
    Dataset<Row> gaps = spark.range(10).selectExpr("if(id = 7, null, id) as n");
    assertThatThrownBy(() -> gaps.write().format("ddstore").option("ranks", 1).save("n"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasCauseInstanceOf(IngestException.class)
        .hasMessage(
            "column \"n\", row 7: null; set option \"fillNulls.n\", or put coalesce(n, ..) into the"
                + " query or filter the rows");
    assertThatThrownBy(() -> spark.sql("create table ddstore.n as select array(array(1)) as m"))
        .hasStackTraceContaining("option \"type.m\" as \"int32[28,28]\"");
    assertThatThrownBy(() -> spark.sql("create table ddstore.n as select 1 as a, struct() as s"))
        .hasStackTraceContaining(
            "column \"s\": a struct without fields cannot be stored: drop it from the query, or"
                + " leave it out with option \"columns\"");
    assertThat(DDStores.list(spark)).isEmpty();
    // An append uses the options of the store, which are not given again.
    spark.range(3).selectExpr("id as n").write().format("ddstore").save("n");
    assertThatThrownBy(() -> DDStores.open(spark, "n").append(gaps))
        .isInstanceOf(IngestException.class)
        .hasMessageEndingWith("null; put coalesce(n, ..) into the query or filter the rows");
  }

  @Test
  void rejectsNullsButKeepsNullableColumns() {
    StructType schema =
        (StructType) DataType.fromDDL("a int, s struct<b: string not null>, v array<int>");
    Dataset<Row> rows =
        spark
            .range(20)
            .selectExpr(
                "int(id) as a", "named_struct('b', string(id)) as s", "array(1, int(id)) as v");
    Dataset<Row> nullable = spark.createDataFrame(rows.toJavaRDD(), schema);
    nullable.write().format("ddstore").option("ranks", "2").save("nullable");
    assertThat(read("nullable").schema()).isEqualTo(schema);
    assertSame(read("nullable"), nullable);
    for (String bad :
        List.of(
            "if(id = 7, null, id) as a",
            "if(id = 7, null, string(id)) as a",
            "array(1, if(id = 7, null, int(id))) as a")) {
      assertThatThrownBy(
              () -> spark.range(20).selectExpr("id", bad).write().format("ddstore").save("bad"))
          .as(bad)
          .hasMessageContaining("null")
          .hasMessageContaining("\"a\"")
          .hasMessageContaining("7");
    }
  }

  @Test
  void columnNamesWithSpecialCharactersAreKept() {
    Dataset<Row> source =
        spark
            .range(100)
            .selectExpr(
                "id as `a.b`",
                "id + 1 as `two words`",
                "id + 2 as `größe 𝄞`",
                "id + 3 as `tick``s`",
                "id + 4 as `select`",
                "named_struct('x.y', id, 'in ner', concat('t', id)) as `s t`");
    source
        .write()
        .format("ddstore")
        .option("ranks", "2")
        .option("type.Größe 𝄞", "int16")
        .option("type.a.b", "int32")
        .save("names");
    assertThat(read("names").schema()).isEqualTo(source.schema());
    assertSame(read("names"), source);
    assertThat(
            spark
                .sql(
                    "select `s t`.`x.y`, `a.b`, `größe 𝄞`, `tick``s` from ddstore.names where `two"
                        + " words` = 7 and __index > 2")
                .collectAsList())
        .hasToString("[[6,6,8,9]]");
    assertThatThrownBy(
            () ->
                spark
                    .range(3)
                    .selectExpr("id as `a.b`", "named_struct('b', id) as a")
                    .write()
                    .format("ddstore")
                    .save("twice"))
        .hasMessageContaining("two columns have this name")
        .hasMessageContaining("a.b");
  }

  @Test
  void namesThatDifferByCaseAreKeptIfSparkIsCaseSensitive() {
    spark.conf().set("spark.sql.caseSensitive", "true");
    try {
      Dataset<Row> source = spark.range(10).selectExpr("id", "-id as ID", "id + 5 as __INDEX");
      source.write().format("ddstore").option("ranks", "2").save("cases");
      assertSame(read("cases"), source);
      assertThat(
              spark
                  .sql("select ID, id, __INDEX from ddstore.cases where __index = 3")
                  .collectAsList())
          .hasToString("[[-3,3,8]]");
    } finally {
      spark.conf().unset("spark.sql.caseSensitive");
    }
  }

  @Test
  void columnOfTheSameNameHidesTheIndex() {
    spark.range(10).selectExpr("id", "9 - id as __index").write().format("ddstore").save("own");
    assertThat(spark.sql("select id from ddstore.own where __index = 2").collectAsList())
        .hasToString("[[7]]");
    assertThat(
            spark
                .read()
                .format("ddstore")
                .option("indexColumn", "place")
                .load("own")
                .where("place = 2")
                .select("id", "__index", "place")
                .collectAsList())
        .hasToString("[[2,7,2]]");
  }

  @Test
  @Tag("slow")
  void roundTripsWideRows() {
    List<String> columns =
        new ArrayList<>(
            List.of("id", "cast(repeat(chr(int(65 + id)), 3000000) as binary) as large"));
    IntStream.range(0, 600)
        .forEach(i -> columns.add("cast(id * %1$d as int) as c%1$d".formatted(i)));
    Dataset<Row> source = spark.range(6).selectExpr(columns.toArray(new String[0]));
    source.write().format("ddstore").option("ranks", "2").save("wide");
    // exceptAll over 600 columns takes Spark half a minute.
    assertThat(read("wide").collectAsList())
        .containsExactlyInAnyOrderElementsOf(source.collectAsList());
    assertThat(
            spark
                .sql("select c599, length(large) from ddstore.wide where __index = 5")
                .collectAsList())
        .hasToString("[[2995,3000000]]");
  }
}
