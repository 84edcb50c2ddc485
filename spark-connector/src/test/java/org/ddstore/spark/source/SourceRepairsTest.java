// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.types.DType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Nulls, lengths and decimals of stores written as tables, against what Spark computes by coalesce
 * and casts.
 */
@Tag("system")
@Timeout(300)
class SourceRepairsTest extends SourceOnCluster {
  private static final String[] WITH_NULLS = {
    "id",
    "if(id % 3 = 0, null, int(id)) as Age",
    "if(id % 4 = 0, null, concat('t', id)) as text",
    "if(id % 5 = 0, null, id % 2 = 0) as flag",
    "if(id % 6 = 0, null, cast(concat('b', id) as binary)) as blob",
    "if(id % 3 = 1, null, date_add(date'2000-01-01', int(id))) as day",
    "if(id % 3 = 2, null, timestamp_seconds(id)) as at",
    "if(id % 7 = 0, null, slice(array(int(id), 2, null, 4), 1, int(id % 5))) as tokens",
    "if(id % 2 = 0, null, cast(id / 8 as decimal(9,3))) as price",
    "named_struct('tax', cast(id / 3 as decimal(10,4))) as s",
    "array(cast(id as decimal(5,1)), null) as pair"
  };

  private static final Map<String, String> OPTIONS =
      Map.ofEntries(
          Map.entry("orderBy", "id"),
          Map.entry("FILLNULLS.age", " -7 "),
          Map.entry("fillNulls.text", " none "),
          Map.entry("fillNulls.flag", "true"),
          Map.entry("fillNulls.blob", "00ff"),
          Map.entry("fillNulls.day", "1970-01-01"),
          Map.entry("fillNulls.at", "2001-02-03 04:05:06"),
          Map.entry("fillNulls.tokens", "9"),
          Map.entry("type.tokens", "int32[3]"),
          Map.entry("pad.tokens", "-1"),
          Map.entry("truncate.Tokens", "true"),
          Map.entry("decimals", "int64"),
          Map.entry("decimals.s.tax", "float64"),
          Map.entry("fillNulls.price", "-0.125"),
          Map.entry("fillNulls.pair", "2.5"));

  private static final String[] REPAIRED = {
    "id",
    "coalesce(Age, -7) as Age",
    "coalesce(text, ' none ') as text",
    "coalesce(flag, true) as flag",
    "coalesce(blob, x'00ff') as blob",
    "coalesce(day, date'1970-01-01') as day",
    "coalesce(at, timestamp'2001-02-03 04:05:06') as at",
    "coalesce(slice(concat(transform(tokens, t -> coalesce(t, 9)), array(-1, -1, -1)), 1, 3),"
        + " array(9, 9, 9)) as tokens",
    "coalesce(price, cast(-0.125 as decimal(9,3))) as price",
    "named_struct('tax', cast(cast(s.tax as double) as decimal(10,4))) as s",
    "transform(pair, p -> coalesce(p, cast(2.5 as decimal(5,1)))) as pair"
  };

  @BeforeAll
  static void start() {
    start(2, 2);
  }

  private Dataset<Row> withNulls(long from, long to) {
    return spark.range(from, to, 1, 3).selectExpr(WITH_NULLS);
  }

  private static void assertRepaired(Dataset<Row> stored, Dataset<Row> rows) {
    assertThat(stored.schema().simpleString()).isEqualTo(rows.schema().simpleString());
    assertThat(PlainRows.of(stored.orderBy("id").collectAsList()))
        .isEqualTo(PlainRows.of(rows.selectExpr(REPAIRED).orderBy("id").collectAsList()));
  }

  /** The options stay with the store, for rows that are added or that replace others. */
  @Test
  @Tag("slow")
  void optionsApplyToEveryWriteOfTheStore() {
    withNulls(0, 60).write().format("ddstore").options(OPTIONS).save("r");
    assertRepaired(read("r"), withNulls(0, 60));
    withNulls(60, 80).write().format("ddstore").mode("append").save("r");
    withNulls(80, 90).createOrReplaceTempView("more");
    spark.sql("insert into ddstore.r select * from more");
    assertRepaired(read("r"), withNulls(0, 90));
    spark.sql("insert overwrite ddstore.r select * from more");
    assertRepaired(read("r"), withNulls(80, 90));
    withNulls(5, 25).write().format("ddstore").mode("overwrite").save("r");
    assertRepaired(read("r"), withNulls(5, 25));
    assertThatThrownBy(
            () ->
                withNulls(0, 5)
                    .write()
                    .format("ddstore")
                    .mode("append")
                    .option("fillNulls.age", 1)
                    .save("r"))
        .hasMessageContaining("remove the write options");
  }

  @Test
  void createTableTakesTheOptions() {
    withNulls(0, 30).createOrReplaceTempView("rows");
    StringBuilder options = new StringBuilder();
    OPTIONS.forEach(
        (key, value) ->
            options
                .append(options.isEmpty() ? "" : ", ")
                .append("`%s` '%s'".formatted(key, value)));
    spark.sql("create table ddstore.c options (%s) as select * from rows".formatted(options));
    assertRepaired(spark.table("ddstore.c"), withNulls(0, 30));
    assertThat(
            spark
                .sql("select sum(price), max(s.tax), min(pair[1]) from ddstore.c where price > 1")
                .collectAsList())
        .isEqualTo(
            withNulls(0, 30)
                .selectExpr(REPAIRED)
                .where("price > 1")
                .selectExpr("sum(price)", "max(s.tax)", "min(pair[1])")
                .collectAsList());
  }

  /** Ranks read the numbers of the form. */
  @Test
  void ranksReadUnscaledNumbersAndDoubles() {
    Dataset<Row> rows =
        spark
            .range(0, 20, 1, 2)
            .selectExpr("cast(id / 8 as decimal(9,3)) as i", "cast(id / 3 as decimal(30,12)) as f");
    ResidentStore store =
        DDStores.from(rows)
            .ranks(2)
            .decimals(DecimalForm.INT64)
            .decimals(DecimalForm.FLOAT64, "f")
            .load("d");
    assertThat(store.schema().field("i").dtype()).isEqualTo(DType.INT64);
    assertThat(store.schema().field("f").dtype()).isEqualTo(DType.FLOAT64);
    List<String> read =
        store.run(
            context -> {
              StringBuilder numbers = new StringBuilder();
              try (Reader reader = context.rows().reader();
                  Batch batch = reader.getBatch(0, 7, 19)) {
                for (int row = 0; row < batch.rows(); row++) {
                  numbers.append(batch.field("i").getLong(row)).append(' ');
                  numbers.append(batch.field("f").getDouble(row)).append(' ');
                }
              }
              return numbers.toString();
            });
    StringBuilder expected = new StringBuilder();
    for (Row row : rows.where("i in (0, 0.875, 2.375)").orderBy("i").collectAsList()) {
      expected.append(row.getDecimal(0).unscaledValue()).append(' ');
      expected.append(row.getDecimal(1).doubleValue()).append(' ');
    }
    assertThat(read).containsExactly(expected.toString(), expected.toString());
  }

  /** Doubles have 15 digits; a rounded one beyond the precision is the nearest decimal. */
  @Test
  void doublesComeBackRounded() {
    Dataset<Row> rows =
        spark.sql(
            "select * from values (0L, 99999999999999999999BD, 0.1BD), (1L,"
                + " -99999999999999999999BD, 123456789012345.67BD), (2L,"
                + " 12345678901234567890BD, -0.01BD) as t(id, w, n)");
    rows.selectExpr("id", "w", "cast(n as decimal(20,3)) as n")
        .write()
        .format("ddstore")
        .option("decimals", "float64")
        .save("w");
    assertThat(read("w").orderBy("id").select("w").collectAsList())
        .extracting(row -> row.getDecimal(0))
        .containsExactly(
            new BigDecimal("99999999999999999999"),
            new BigDecimal("-99999999999999999999"),
            new BigDecimal("12345678901234567000"));
    assertThat(read("w").orderBy("id").select("n").collectAsList())
        .isEqualTo(
            rows.orderBy("id")
                .selectExpr("cast(cast(cast(n as decimal(20,3)) as double) as decimal(20,3)) as n")
                .collectAsList());
  }
}
