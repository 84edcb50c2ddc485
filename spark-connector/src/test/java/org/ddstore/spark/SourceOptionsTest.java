// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.source.SourceOnCluster;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Options of stores written as tables, on two executors with two slots each. */
@Tag("system")
@Timeout(300)
class SourceOptionsTest extends SourceOnCluster {
  private static final int ROWS = 1_000;

  @BeforeAll
  static void start() {
    start(2, 2);
  }

  @Test
  @Tag("slow")
  void overwriteKeepsTheOptionsOfTheStore() {
    Dataset<Row> rows = spark.range(10).selectExpr("id", "array(id, -id) as v", "9 - id as place");
    Map<String, String> options =
        Map.of("ranks", "2", "width", "1", "orderBy", "place", "type.v", "int16[2]");
    rows.write().format("ddstore").options(options).save("o");
    String records = DDStores.open(spark, "o").schema().toString();
    rows.createOrReplaceTempView("rows");
    List<Runnable> overwrites =
        List.of(
            () -> spark.sql("insert overwrite ddstore.o select * from rows where id < 8"),
            () -> rows.where("id < 8").write().mode("overwrite").insertInto("ddstore.o"),
            () -> rows.where("id < 8").write().format("ddstore").mode("overwrite").save("o"));
    for (Runnable overwrite : overwrites) {
      ResidentStore before = DDStores.open(spark, "o");
      overwrite.run();
      ResidentStore after = DDStores.open(spark, "o");
      assertThat(before.isDropped()).isTrue();
      assertThat(List.of(after.ranks(), after.width(), after.rows())).isEqualTo(List.of(2, 1, 8L));
      assertThat(after.schema()).hasToString(records);
      assertThat(spark.sql("select id from ddstore.o order by __index").collectAsList())
          .hasToString("[[7], [6], [5], [4], [3], [2], [1], [0]]");
    }
    rows.write().format("ddstore").mode("overwrite").option("ranks", 3).save("o");
    ResidentStore ofItsOwn = DDStores.open(spark, "o");
    assertThat(List.of(ofItsOwn.ranks(), ofItsOwn.width())).isEqualTo(List.of(3, 3));
    assertThat(ofItsOwn.schema().toString()).isNotEqualTo(records);
    spark.range(5).write().format("ddstore").mode("overwrite").save("o");
    assertThat(DDStores.open(spark, "o").ranks()).as("other columns, all slots").isEqualTo(4);
    spark.sql("create or replace table ddstore.o options (ranks 2) as select 1L as id");
    spark.sql("create or replace table ddstore.o as select 1L as id");
    assertThat(DDStores.open(spark, "o").ranks()).as("made anew").isEqualTo(4);
    spark.range(20).writeTo("ddstore.o").option("ranks", "1").createOrReplace();
    spark.sql("insert overwrite ddstore.o select 2L");
    assertThat(DDStores.open(spark, "o").ranks()).as("of CREATE TABLE").isEqualTo(1);
  }

  /** They cannot be given again. */
  @Test
  void anOverwriteWithOptionsOfMissingColumnsIsRefused() {
    Dataset<Row> rows = spark.range(10).selectExpr("id", "9 - id as place");
    rows.createOrReplaceTempView("placed");
    rows.write().format("ddstore").option("columns", "id").option("orderBy", "place").save("h");
    assertThatThrownBy(() -> spark.sql("insert overwrite ddstore.h select id from placed"))
        .hasStackTraceContaining(
            "rows of columns [id] do not fit the options of \"h\": orderBy \"place\": no such"
                + " column: choose one of [id], or add the column, or write the rows with separate"
                + " options");
    assertThat(spark.sql("select id from ddstore.h").count()).isEqualTo(10);
    rows.select("id").write().format("ddstore").mode("overwrite").option("ranks", 1).save("h");
    assertThat(DDStores.open(spark, "h").ranks()).isEqualTo(1);
  }

  @Test
  void rejectsAnAppendWithoutTheOrderingColumn() {
    Dataset<Row> rows = spark.range(10).selectExpr("id", "9 - id as place");
    rows.write().format("ddstore").option("columns", "id").option("orderBy", "place").save("h");
    String message =
        "rows of columns [id] do not fit the options of \"h\": orderBy \"place\": no such column:"
            + " choose one of [id], or append rows that have the column";
    assertThatThrownBy(() -> DDStores.open(spark, "h").append(rows.select("id")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
    assertThatThrownBy(() -> spark.sql("insert into ddstore.h select 3L"))
        .hasStackTraceContaining(message);
    assertThat(DDStores.open(spark, "h").rows()).isEqualTo(10);
  }

  /** In an order that is none of its columns. */
  private Dataset<Row> unordered() {
    return spark
        .range(0, ROWS, 1, 3)
        .selectExpr("(id * 7919) % " + ROWS + " as place", "id % 7 as label", "id");
  }

  private List<Row> inOrderOfTheIndex(String store) {
    return spark
        .sql("select place, label, id from ddstore.%s order by __index".formatted(store))
        .collectAsList();
  }

  @Test
  void ordersRowsByTheColumnsOfAnOption() {
    unordered().write().format("ddstore").option("ranks", "3").option("orderBy", "place").save("o");
    assertThat(
            spark.sql("select place, __index from ddstore.o where place = __index").collectAsList())
        .hasSize(ROWS);
    unordered().write().format("ddstore").option("orderBy", "label, place").save("two");
    assertThat(inOrderOfTheIndex("two"))
        .isEqualTo(unordered().orderBy("label", "place").collectAsList());
    unordered().write().format("ddstore").save("none");
    assertThat(inOrderOfTheIndex("none")).isEqualTo(unordered().collectAsList());
  }

  @Test
  void aShuffledWriteEqualsALoadWithTheSameSeed() {
    unordered().write().format("ddstore").option("ranks", "3").option("shuffle", "42").save("s");
    ResidentStore same = DDStores.from(unordered()).ranks(2).shuffle(42).load("same");
    ResidentStore other = DDStores.from(unordered()).ranks(2).shuffle(43).load("other");
    assertThat(DDStores.open(spark, "s").digest())
        .isEqualTo(same.digest())
        .isNotEqualTo(other.digest());
    assertThat(inOrderOfTheIndex("s"))
        .isEqualTo(inOrderOfTheIndex("same"))
        .isNotEqualTo(unordered().collectAsList())
        .containsExactlyInAnyOrderElementsOf(unordered().collectAsList());
  }

  @Test
  void appliesWidthAndTransportToTheStore() {
    Dataset<Row> rows = spark.range(10).toDF();
    rows.write()
        .format("ddstore")
        .option("ranks", 2)
        .option("width", 1)
        .option("transport", "tcp")
        .save("copies");
    ResidentStore copies = DDStores.open(spark, "copies");
    assertThat(copies.width()).isEqualTo(1);
    assertThat(copies.shards()).hasSize(2).allMatch(shard -> shard.rows() == 10);
    assertThat(copies.handle().snapshot().settings().transport()).isEqualTo("tcp");
    assertThat(copies.explain()).contains("transport: tcp");
    rows.write().format("ddstore").option("ranks", 2).save("plain");
    ResidentStore plain = DDStores.open(spark, "plain");
    assertThat(plain.width()).isEqualTo(2);
    assertThat(plain.shards()).hasSize(2).allMatch(shard -> shard.rows() == 5);
    assertThat(plain.handle().snapshot().settings().transport()).isEqualTo("auto");
    assertThatThrownBy(
            () -> rows.write().format("ddstore").option("transport", "pigeon").save("other"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pigeon");
  }

  @Test
  void rowsAreKeptInFiles(@TempDir Path directory) throws IOException {
    labelled()
        .write()
        .format("ddstore")
        .options(Map.of("backing", "file", "directory", directory.toString(), "ranks", "2"))
        .save("files");
    assertThat(filesIn(directory)).hasSizeGreaterThanOrEqualTo(2);
    assertSame(read("files"), labelled());
    spark.sql("drop table ddstore.files");
    assertThat(filesIn(directory)).isEmpty();
    assertThatThrownBy(
            () -> labelled().write().format("ddstore").option("backing", "file").save("nowhere"))
        .hasMessageContaining("spark.ddstore.backing=file, but no directory is set");
  }

  private static List<Path> filesIn(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile)
          .filter(file -> !file.getFileName().toString().contains("lock"))
          .toList();
    }
  }
}
