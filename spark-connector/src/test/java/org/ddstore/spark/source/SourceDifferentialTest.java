// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.types.IngestException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random DataFrames and queries: a store answers as plain Spark does. {@code
 * -Dddstore.differential.seeds=N} tests N random seeds instead of the fixed ones.
 */
@Tag("system")
@Timeout(600)
class SourceDifferentialTest extends SourceOnCluster {
  private static final long[] SEEDS = {1, 3};
  private static final int QUERIES = 4;
  private static final int MAX_ROWS = 300;

  /** Values of a column by the row number {@code id} and the number N. */
  private static final List<String> VALUES =
      List.of(
          "pmod(h, 3) = 0",
          "cast(pmod(h, 256) - 128 as tinyint)",
          "cast(pmod(h, 65536) - 32768 as smallint)",
          "cast(pmod(h, 100) as int)",
          "h",
          "cast(pmod(h, 1000) / 8 as float)",
          "if(pmod(h, 9) = 0, double('nan'), h / 7D)",
          "if(pmod(h, 4) = 0, '', concat('é', pmod(h, 50)))",
          "cast(repeat('x', cast(pmod(h, 5) as int)) as binary)",
          "date_add(date'1970-01-01', cast(pmod(h, 40000) as int))",
          "timestamp_micros(pmod(h, 4000000000000000))",
          "array(float(pmod(h, 77)), float(id), -0.5F)",
          "transform(sequence(0, cast(pmod(h, 4) as int)), i -> h + i)",
          "slice(array(1, 2, 3), 1, cast(pmod(h, 4) as int))",
          "named_struct('a', cast(pmod(h, 10) as int), 'b', concat('s', pmod(h, 6)))");

  /** Conditions on the columns of every frame. */
  private static final List<String> CONDITIONS =
      List.of("label = %d", "idx between %d and 120", "idx %% 7 <> %d", "not (label < %d)");

  @BeforeAll
  static void start() {
    start(2, 2);
  }

  static LongStream seeds() {
    int random = Integer.getInteger("ddstore.differential.seeds", 0);
    return random == 0 ? LongStream.of(SEEDS) : new Random().longs(random);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void answersLikeSpark(long seed) {
    System.out.println("answersLikeSpark: seed " + seed);
    Random random = new Random(seed);
    int rows = random.nextInt(8) == 0 ? 1 : 1 + random.nextInt(MAX_ROWS);
    List<String> columns = new ArrayList<>();
    Dataset<Row> frame = frame(random, rows, columns);
    frame.write().format("ddstore").option("ranks", 1 + random.nextInt(4)).save("d");
    spark.sql(
        "create or replace temporary view store using ddstore options (name 'd', indexColumn 'idx')");
    frame.withColumn("idx", frame.col("id")).createOrReplaceTempView("plain");

    assertSame(spark.sql("select * from store"), spark.sql("select * from plain"));
    for (int query = 0; query < QUERIES; query++) {
      String sql = query(random, columns, rows);
      System.out.println(sql);
      assertThat(PlainRows.of(answer(sql, "store")))
          .as("seed %d: %s", seed, sql)
          .isEqualTo(PlainRows.of(answer(sql, "plain")));
    }
    assertSampleIsPartOf(frame, seed);
    assertNullIsRefused(frame, columns.get(0), random.nextInt(rows));
  }

  private Dataset<Row> frame(Random random, int rows, List<String> columns) {
    List<String> values = new ArrayList<>(VALUES);
    Collections.shuffle(values, random);
    List<String> selected = new ArrayList<>(List.of("id", "cast(id % 7 as int) as label"));
    for (String value : values.subList(0, 1 + random.nextInt(6))) {
      String name = "c" + columns.size();
      columns.add(name);
      String hash = "xxhash64(id, %d)".formatted(random.nextInt());
      selected.add(value.replaceAll("\\bh\\b", hash) + " as " + name);
    }
    return spark
        .range(0, rows, 1, 1 + random.nextInt(4))
        .selectExpr(selected.toArray(new String[0]));
  }

  /** A query of table T whose answer has one order. */
  private static String query(Random random, List<String> columns, int rows) {
    String column = columns.get(random.nextInt(columns.size()));
    String where =
        CONDITIONS.get(random.nextInt(CONDITIONS.size())).formatted(random.nextInt(10))
            + (random.nextBoolean() ? " and " : " or ")
            + "idx >= "
            + random.nextInt(-1, rows + 1);
    return switch (random.nextInt(6)) {
      case 0 -> "select idx, %s from T where %s order by idx".formatted(column, where);
      case 1 -> "select count(*), min(idx), max(id), sum(label) from T where " + where;
      case 2 -> "select label, count(*), sum(idx) from T group by label order by label";
      case 3 ->
          "select %s, id from T order by idx limit %d offset %d"
              .formatted(column, random.nextInt(20), random.nextInt(rows));
      case 4 ->
          "select a.idx, a.%s, b.label from T a join T b on a.idx = b.idx + %d order by a.idx"
              .formatted(column, random.nextInt(5));
      default ->
          "select * from T where idx in (select id * 3 from T where %s) order by idx"
              .formatted(where);
    };
  }

  private List<Row> answer(String sql, String table) {
    return spark.sql(sql.replaceAll("\\bT\\b", table)).collectAsList();
  }

  private void assertSampleIsPartOf(Dataset<Row> frame, long seed) {
    List<Object> sample = PlainRows.of(read("d").sample(0.3, seed).collectAsList());
    assertThat(sample).doesNotHaveDuplicates();
    assertThat(PlainRows.of(frame.collectAsList())).containsAll(sample);
  }

  private void assertNullIsRefused(Dataset<Row> frame, String column, int row) {
    Dataset<Row> holed =
        frame.selectExpr("*", "if(id = %d, null, %s) as holed".formatted(row, column));
    assertThatThrownBy(() -> holed.write().format("ddstore").option("ranks", 1).save("holed"))
        .hasStackTraceContaining(IngestException.class.getName())
        .hasStackTraceContaining("holed");
  }
}
