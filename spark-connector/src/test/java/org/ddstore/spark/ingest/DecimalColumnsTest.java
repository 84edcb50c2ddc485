// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Columns of decimals against Java's own decimals of Spark's rows. */
class DecimalColumnsTest {
  private static final IngestOptions PLAIN = IngestOptions.defaults();
  private static final IngestOptions UNSCALED = PLAIN.decimals(DecimalForm.INT64);

  @TempDir Path folder;

  private final SparkSession spark = Sparks.local();

  private static final String[] COLUMNS = {
    "id",
    "cast(id as decimal(1,0)) as digit",
    "cast(id / 8 - 3 as decimal(9,4)) as small",
    "cast(id / 10 as decimal(18,18)) as f",
    "if(id % 2 = 0, 999999999999999999BD, -999999999999999999BD) as extreme",
    "cast(id / 7 as decimal(10,2)) as own",
    "transform(sequence(0, int(id % 3)), i -> cast(id / 4 - i as decimal(12,3))) as list",
    "named_struct('p', cast(id * 0.01 as decimal(7,2))) as s"
  };

  private Dataset<Row> rows() {
    return spark.range(0, 9, 1, 2).selectExpr(COLUMNS);
  }

  private static List<Object> column(Dataset<Row> rows, String name) {
    return rows.select(name).collectAsList().stream().map(row -> row.get(0)).toList();
  }

  private static Object unscaled(Object value) {
    return value instanceof BigDecimal decimal
        ? (Object) decimal.unscaledValue().longValueExact()
        : scala.jdk.javaapi.CollectionConverters.asJava((scala.collection.Seq<?>) value).stream()
            .map(DecimalColumnsTest::unscaled)
            .toList();
  }

  /** From a literal plan, from columnar files, and from rows of files. */
  @ParameterizedTest
  @ValueSource(strings = {"plan", "columnar", "rows"})
  void storesUnscaledValuesAndDoubles(String way) {
    Dataset<Row> rows = rows();
    if (!way.equals("plan")) {
      String path = folder.resolve("data").toString();
      rows.coalesce(1).write().parquet(path);
      rows = spark.read().parquet(path);
    }
    if (way.equals("rows")) {
      rows = rows.where("id >= 0");
    }

    Loads.Loaded loaded = Loads.load(rows, UNSCALED.decimals(DecimalForm.FLOAT64, "own"), 3);

    assertThat(loaded.schema())
        .hasToString(
            "Schema[id: int64, digit: int64, small: int64, f: int64, extreme: int64,"
                + " own: float64, list: int64[?], s.p: int64]");
    for (String name : List.of("digit", "small", "f", "extreme", "list", "s.p")) {
      assertThat(loaded.column(name))
          .as(name)
          .isEqualTo(column(rows, name).stream().map(DecimalColumnsTest::unscaled).toList());
    }
    assertThat(loaded.column("own"))
        .isEqualTo(column(rows.selectExpr("cast(own as double) as own"), "own"));
  }

  @Test
  void declaredTypesApplyToTheNumbersOfTheForm() {
    Dataset<Row> rows =
        spark
            .range(0, 4, 1, 1)
            .selectExpr(
                "cast(id / 4 as decimal(9,2)) as i",
                "cast(id / 3 as decimal(20,10)) as f",
                "array(array(cast(id as decimal(9,1)), null)) as m",
                "cast(if(id = 2, null, id) as decimal(9,1)) as n");
    IngestOptions options =
        UNSCALED
            .field("i", DType.INT16)
            .decimals(DecimalForm.FLOAT64, "f")
            .field("f", DType.FLOAT32)
            .field("m", DType.INT64, 2, 2)
            .fillNulls("m", 0.5)
            .pad("m", new BigDecimal("-1.5"))
            .fillNulls("n", 7);

    Loads.Loaded loaded = Loads.load(rows, options, 1);

    assertThat(loaded.column("i")).containsExactly((short) 0, (short) 25, (short) 50, (short) 75);
    assertThat(loaded.column("f"))
        .isEqualTo(column(rows.selectExpr("cast(cast(f as double) as float) as f"), "f"));
    assertThat(loaded.column("m").get(3)).isEqualTo(List.of(30L, 5L, -15L, -15L));
    assertThat(loaded.column("n")).containsExactly(0L, 10L, 70L, 30L);
  }

  static List<Arguments> refusals() {
    return List.of(
        Arguments.of(
            "cast(id as decimal(9,2))", PLAIN, "DECIMAL(9,2) cannot be stored; store it by"),
        Arguments.of(
            "cast(id as decimal(19,2))",
            UNSCALED,
            "DECIMAL(19,2) cannot be stored as int64; store it by decimals(DecimalForm.FLOAT64,"),
        Arguments.of(
            "array(cast(id as decimal(19,2)))",
            UNSCALED,
            "arrays of DECIMAL(19,2) cannot be stored as int64; store it by"),
        Arguments.of(
            "id",
            UNSCALED.decimals(DecimalForm.INT64, "c"),
            "decimals(.., \"c\") is for decimals, not for BIGINT: remove it"),
        Arguments.of(
            "cast(id as decimal(9,2))",
            UNSCALED.field("c", DType.FLOAT32),
            "decimals in the form int64 cannot become float32: use the form float64"),
        Arguments.of(
            "cast(id as decimal(9,2))",
            PLAIN.decimals(DecimalForm.FLOAT64, "c").field("c", DType.INT64),
            "decimals in the form float64 cannot become int64: use the form int64"),
        Arguments.of(
            "cast(id as decimal(9,2))",
            UNSCALED.fillNulls("c", 1.255),
            "fillNulls(\"c\", ..): value 1.255 does not fit DECIMAL(9,2)"),
        Arguments.of(
            "cast(id as decimal(3,2))",
            UNSCALED.fillNulls("c", 10),
            "fillNulls(\"c\", ..): value 10 does not fit DECIMAL(3,2)"),
        Arguments.of(
            "int(id)",
            PLAIN.field("c", DType.UINT8).fillNulls("c", -1),
            "fillNulls(\"c\", ..): value -1 is outside [0, 255] of uint8"),
        Arguments.of(
            "array(int(id))",
            PLAIN.field("c", DType.INT32, 2).pad("c", new BigDecimal("1.5")),
            "pad(\"c\", ..): value 1.5 is outside"),
        Arguments.of(
            "cast(if(id = 7, null, id) as decimal(9,2))",
            UNSCALED,
            "column \"c\", row 7: null; set a value with fillNulls(\"c\", ..)"),
        Arguments.of(
            "array(cast(if(id = 7, null, id) as decimal(9,2)))",
            UNSCALED,
            "column \"c\", row 7: null element; set a value with"),
        Arguments.of(
            "cast(id * 50 as decimal(9,2))",
            UNSCALED.field("c", DType.INT16),
            "column \"c\", row 7: 35000 is outside [-32768, 32767] of [c int16]"));
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void namesColumnRowAndRemedy(String expression, IngestOptions options, String message) {
    Dataset<Row> rows = spark.range(0, 9, 1, 2).selectExpr(expression + " as c");

    assertThatThrownBy(() -> Loads.load(rows, options, 2))
        .isInstanceOf(IngestException.class)
        .hasMessageContaining(message);
  }
}
