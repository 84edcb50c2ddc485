// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of files stand by file path and place in the file, whatever Spark makes of the splits. */
class FileOrderTest {
  private static final String SPLIT_BYTES = "spark.sql.files.maxPartitionBytes";
  private static final String V1_SOURCES = "spark.sql.sources.useV1SourceList";

  @TempDir static Path folder;

  private static String parquet;

  /** Files of different sizes, several row groups each, and names that order differs from ids. */
  @BeforeAll
  static void write() {
    SparkSession spark = Sparks.local();
    parquet = folder.resolve("data").toString();
    for (int i = 0; i < 5; i++) {
      String name = List.of("z", "a b", "A", "m%20x", "ä").get(i);
      spark
          .range(i * 10_000L, i * 10_000L + 3_000L * i + 100)
          .selectExpr("id", "id % 7 as k", "cast(id as string) as text", "repeat('x', 50) as pad")
          .coalesce(1)
          .write()
          .option("parquet.block.size", 16 << 10)
          .option("parquet.page.size", 4 << 10)
          .option("parquet.enable.dictionary", "false")
          .parquet(parquet + "/" + name);
    }
  }

  @AfterEach
  void resetSettings() {
    Sparks.local().conf().unset(SPLIT_BYTES);
    Sparks.local().conf().unset(V1_SOURCES);
  }

  private static Dataset<Row> read(SparkSession spark) {
    return spark.read().option("recursiveFileLookup", "true").parquet(parquet);
  }

  private static List<Object> expected(SparkSession spark, String where) {
    return read(spark)
        .where(where)
        .orderBy("_metadata.file_path", "_metadata.row_index")
        .select("id")
        .collectAsList()
        .stream()
        .map(row -> row.get(0))
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "128m, 1, parquet",
    "20k, 2, parquet",
    "20k, 3, parquet",
    "7k, 7, parquet",
    "20k, 4, ''"
  })
  void ordersByPathAndRowIndex(String splitBytes, int ranks, String v1Sources) {
    SparkSession spark = Sparks.local();
    spark.conf().set(SPLIT_BYTES, splitBytes);
    spark.conf().set(V1_SOURCES, v1Sources);

    Loads.Loaded loaded = Loads.load(read(spark).select("text", "id"), ranks);

    spark.conf().unset(V1_SOURCES);
    assertThat(loaded.column("id")).isEqualTo(expected(spark, "true"));
    assertThat(loaded.shardRows()).hasSize(ranks);
    assertThat(loaded.column("text"))
        .isEqualTo(loaded.column("id").stream().map(Object::toString).toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"local[1]", "local[2]", "local[5]"})
  @Tag("slow")
  void doesNotDependOnCores(String master) {
    SparkSession spark = Sparks.master(master);
    spark.conf().set(SPLIT_BYTES, "20k");

    assertThat(Loads.load(read(spark), 3).column("id")).isEqualTo(expected(spark, "true"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"k = 3", "id > 20000 and k < 2", "id % 1000 = 999", "false"})
  void keepsTheOrderOfFilteredRows(String where) {
    SparkSession spark = Sparks.local();
    spark.conf().set(SPLIT_BYTES, "20k");

    Loads.Loaded loaded = Loads.load(read(spark).where(where).select("id"), 3);

    assertThat(loaded.column("id")).isEqualTo(expected(spark, where));
    assertThat(loaded.shardRows().stream().mapToInt(rows -> rows).max().getAsInt())
        .isLessThanOrEqualTo(loaded.rows().size() / 3 + 1);
  }

  @Test
  void bareScansAreColumnar() {
    Dataset<Row> df = read(Sparks.local());
    try (IngestPlan plan = IngestPlan.of(df, IngestOptions.defaults(), 2)) {
      assertThat(plan.route()).isEqualTo("columnar batches, in scan order");
      assertThat(plan.warnings()).isEmpty();
    }
    try (IngestPlan plan = IngestPlan.of(df.where("id > 5"), IngestOptions.defaults(), 2)) {
      assertThat(plan.route()).isEqualTo("unsafe rows, in scan order");
    }
  }
}
