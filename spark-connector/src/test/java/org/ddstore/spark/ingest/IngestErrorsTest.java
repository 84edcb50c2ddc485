// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.ddstore.types.DType.BFLOAT16;
import static org.ddstore.types.DType.FLOAT32;
import static org.ddstore.types.DType.INT32;
import static org.ddstore.types.DType.INT8;
import static org.ddstore.types.DType.UINT8;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.SourceChangedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors of values that cannot be stored name column, row and remedy. */
class IngestErrorsTest {
  private static final IngestOptions PLAIN = IngestOptions.defaults();

  @TempDir Path folder;

  private final SparkSession spark = Sparks.local();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cast(id as decimal(5,1)) | DECIMAL(5,1) cannot be stored; store it by"
            + " decimals(DecimalForm.INT64, \"c\"), which keeps all digits, or"
            + " decimals(DecimalForm.FLOAT64, \"c\"), which rounds to 15 digits; or cast it:"
            + " cast(c as double)",
        "map(id, id) | MAP<BIGINT, BIGINT> cannot be stored; take map_keys(c) and map_values(c)",
        "interval 1 day | cannot be stored; cast it: cast(c as bigint)",
        "null | VOID cannot be stored; all its values are null: leave it out with columns(..)",
        "array(null) | arrays of VOID cannot be stored; all its elements are null: leave it out",
        "array('a') | arrays of STRING cannot be stored; explode the rows",
        "array(named_struct('a', 1)) | arrays of STRUCT",
        "struct() | a struct without fields cannot be stored: drop it from the query, or leave",
        "named_struct('a', 1, 'b', struct()) | a struct without fields cannot be stored",
        "array(array(1)) | need a declared shape: field(\"c\", INT32, ..)",
      })
  void rejectsUnsupportedTypes(String expression, String message) {
    Dataset<Row> df = spark.range(3).selectExpr("id", expression + " as c");

    assertThatThrownBy(() -> IngestPlan.of(df, PLAIN, 2))
        .isInstanceOf(IngestException.class)
        .hasMessageMatching("column \"c(\\.b)?\": .*")
        .hasMessageContaining(message);
    assertThat(Loads.load(df, PLAIN.columns("id"), 2).rows()).hasSize(3);
  }

  @Test
  void namesTheLossOfADecimalCast() {
    Dataset<Row> df = spark.range(2).selectExpr("cast(id as decimal(20,0)) as c");
    assertThatThrownBy(() -> IngestPlan.of(df, PLAIN, 2))
        .hasMessageEndingWith(
            "DECIMAL(20,0) cannot be stored; store it by decimals(DecimalForm.FLOAT64, \"c\"),"
                + " which rounds to 15 digits; or cast it: cast(c as string) keeps all digits,"
                + " cast(c as double) rounds to 15, and cast(c as bigint) is for whole numbers of"
                + " at most 18 digits, others may overflow");
  }

  /** The options and flags of these are tried in WriteOptionsTest and MainTest. */
  static Stream<Arguments> wordings() {
    IngestOptions fixed = PLAIN.field("c", INT32, 2);
    return Stream.of(
        Arguments.of(
            "if(id = 2, null, id)",
            PLAIN,
            "set option \"fillNulls.c\", or put coalesce(c, ..) into the query",
            "set a value with --fill-nulls c=VALUE, write files without nulls, or leave"),
        Arguments.of(
            "array(if(id = 2, null, id))",
            PLAIN,
            "set option \"fillNulls.c\", or put transform(c, e -> coalesce(e,",
            "set a value with --fill-nulls c=VALUE"),
        Arguments.of(
            "array(array(id))",
            PLAIN,
            "option \"type.c\" as \"int64[28,28]\"",
            "--type c=int64[28,28], or c=int64[?,28]"),
        Arguments.of(
            "array(int(id))",
            fixed,
            "; set option \"pad.c\", or pad it in the query, as in concat(c, array_repeat(.., 2 - size(c))), or declare it ragged: option \"type.c\""
                + " as \"int32[?]\"",
            "; pad it with --pad c=VALUE, or write files with arrays of one length, or declare it"
                + " ragged: --type c=int32[?]"),
        Arguments.of(
            "array(1, 2, int(id))",
            fixed,
            "; set option \"truncate.c\" to \"true\", or truncate it in the query, as in slice(c, 1, 2), or declare it ragged: option \"type.c\" as \"int32[?]\"",
            "; truncate it with --truncate c, or write files with arrays of one length, or declare"
                + " it ragged: --type c=int32[?]"),
        Arguments.of("null", PLAIN, "leave it out with option \"columns\"", "--fields"));
  }

  @ParameterizedTest
  @MethodSource("wordings")
  void remediesUseTheWordingOfTheCaller(
      String expression, IngestOptions options, String option, String flag) {
    Dataset<Row> df = spark.range(5).selectExpr("id", expression + " as c");

    assertThatThrownBy(() -> Loads.load(df, options.wording(Wording.OPTIONS), 2))
        .isInstanceOf(IngestException.class)
        .hasMessageContaining(option);
    assertThatThrownBy(() -> Loads.load(df, options.wording(Wording.FLAGS), 2))
        .isInstanceOf(IngestException.class)
        .hasMessageContaining(flag);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nope | orderBy \"nope\": no such column: choose one of [i, s, m]",
        "s.nope | orderBy \"s.nope\": no such column: choose one of [i, s, m]",
        "m | orderBy \"m\": values of MAP<INT, INT> have no order; use columns of numbers, text",
      })
  void rejectsColumnsThatCannotOrderRows(String column, String message) {
    Dataset<Row> df =
        spark.range(3).selectExpr("int(id) as i", "named_struct('a', id) as s", "map(1, 2) as m");

    assertThatThrownBy(() -> IngestPlan.of(df, PLAIN.columns("i").orderBy("i", column), 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
    assertThat(Loads.load(df, PLAIN.columns("i").orderBy("s.a", "I"), 2).rows()).hasSize(3);
  }

  @Test
  void rejectsColumnsThatDifferOnlyInCase() {
    spark.conf().set("spark.sql.caseSensitive", "true");
    Dataset<Row> df = spark.range(3).selectExpr("id", "id as ID", "id as x");
    try {
      assertThat(Loads.load(df, PLAIN.orderBy("ID"), 2).schema())
          .hasToString("Schema[id: int64, ID: int64, x: int64]");
    } finally {
      spark.conf().unset("spark.sql.caseSensitive");
    }

    assertThatThrownBy(() -> IngestPlan.of(df, PLAIN, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "columns \"id\" and \"ID\" differ only in case, which Spark does not distinguish:"
                + " rename one, or set spark.sql.caseSensitive to true");
    assertThatThrownBy(
            () -> IngestPlan.of(df, PLAIN.columns("x").orderBy("id").wording(Wording.FLAGS), 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "--order-by \"id\": Spark cannot distinguish columns of [id, ID, x]");
    assertThat(Loads.load(df, PLAIN.columns("x"), 2).rows()).hasSize(3);
  }

  static Stream<Arguments> badValues() {
    return Stream.of(
        Arguments.of("if(id = 7, null, id)", PLAIN, "null; set a value with fillNulls(\"c\""),
        Arguments.of("if(id = 7, null, 'x')", PLAIN, "null; set a value"),
        Arguments.of("if(id = 7, null, array(1))", PLAIN, "null; set a value"),
        Arguments.of("array(1, if(id = 7, null, 1))", PLAIN, "null element; set a value"),
        Arguments.of("array(1f, if(id = 7, null, 1f), 2f)", PLAIN, "null element"),
        Arguments.of("id * 40", PLAIN.field("c", UINT8), "280 is outside [0, 255]"),
        Arguments.of("if(id = 7, -1, 1)", PLAIN.field("c", UINT8), "-1 is outside [0, 255]"),
        Arguments.of("if(id = 7, 7e38, 1e0)", PLAIN.field("c", FLOAT32), "7.0E38 is outside"),
        Arguments.of("int(16777210 + id)", PLAIN.field("c", FLOAT32), "16777217 is outside"),
        Arguments.of(
            "array(0, id * 20)", PLAIN.field("c", INT8, 2), "element 140 is outside [-128, 127]"),
        Arguments.of(
            "if(id = 7, array(1), array(1, 2))",
            PLAIN.field("c", INT32, 2),
            "length 1 does not fit c int32[2] (2 elements); pad it with pad(\"c\", ..)"),
        Arguments.of(
            "if(id = 7, array(1, 2, 3), array(1, 2))",
            PLAIN.field("c", INT32, 2).pad("c", 0),
            "length 3 does not fit c int32[2] (2 elements); truncate it with truncate(\"c\")"),
        Arguments.of(
            "if(id = 7, array(array(1), array(1, 2)), array(array(1, 2), array(3, 4)))",
            PLAIN.field("c", INT32, 2, 2),
            "length 1 does not fit c int32[2, 2] (2 in dimension 1)"),
        Arguments.of(
            "if(id = 7, array(1, 2, 3), array(1, 2))",
            PLAIN.raggedField("c", INT32, 2),
            "3 elements do not form whole rows of c int32[?, 2]"),
        Arguments.of(
            "if(id = 7, array(array(1), null), array(array(1), array(2)))",
            PLAIN.field("c", INT32, 2, 1),
            "null in place of an inner array"),
        Arguments.of(
            "if(id = 7, x'0102', x'010203')",
            PLAIN.field("c", UINT8, 3),
            "2 bytes, but [c uint8[3]] has 3"));
  }

  @ParameterizedTest
  @MethodSource("badValues")
  void namesColumnAndRowOfAnInvalidValue(String expression, IngestOptions options, String message) {
    Dataset<Row> df = spark.range(0, 8, 1, 3).selectExpr("id", expression + " as c");
    String path = folder.resolve("data").toString();
    df.coalesce(1).write().parquet(path);

    for (Dataset<Row> way : List.of(df, spark.read().parquet(path))) {
      for (int ranks : new int[] {1, 3}) {
        assertThatThrownBy(() -> Loads.load(way, options, ranks))
            .isInstanceOf(IngestException.class)
            .hasMessageStartingWith("column \"c\", row 7: ")
            .hasMessageContaining(message)
            .extracting(e -> ((IngestException) e).row())
            .isEqualTo(7L);
      }
    }
  }

  @Test
  void namesTheColumnInsideANullStruct() {
    Dataset<Row> df =
        spark.range(5).selectExpr("if(id = 3, null, named_struct('a', id, 'b', 1)) as s");

    assertThatThrownBy(() -> Loads.load(df, PLAIN, 2))
        .isInstanceOf(IngestException.class)
        .hasMessageStartingWith("column \"s.a\", row 3: null");
  }

  static Stream<Arguments> badOptions() {
    return Stream.of(
        Arguments.of(PLAIN.field("nope", INT32), "field(\"nope\", ..): no such column"),
        Arguments.of(PLAIN.columns("nope"), "column \"nope\": no such column: choose one of [i, f"),
        Arguments.of(PLAIN.fillNulls("nope", 1), "fillNulls(\"nope\", ..): no such column"),
        Arguments.of(PLAIN.pad("nope", 1), "pad(\"nope\", ..): no such column"),
        Arguments.of(PLAIN.truncate("nope"), "truncate(\"nope\"): no such column"),
        Arguments.of(PLAIN.field("f", INT32), "float32 values cannot become int32"),
        Arguments.of(PLAIN.field("i", BFLOAT16), "provide them as smallint or binary"),
        Arguments.of(PLAIN.field("i", INT32, 2), "one number per row cannot be declared"),
        Arguments.of(PLAIN.field("s", INT32), "text cannot be declared as int32"),
        Arguments.of(PLAIN.field("a", INT32), "arrays need a shape"),
        Arguments.of(PLAIN.field("m", INT32, 2, 2, 2), "nested 2 deep do not fit the 3"),
        Arguments.of(PLAIN.fillNulls("i", "x"), "cannot be filled with a String"),
        Arguments.of(PLAIN.fillNulls("s", 3), "cannot be filled with a Integer"),
        Arguments.of(PLAIN.pad("i", 3), "pad(\"i\", ..) is for arrays, not for INT: remove it"),
        Arguments.of(
            PLAIN.pad("a", 3),
            "pad(\"a\", ..) needs a declared shape: field(\"a\", INT32, ..) or"));
  }

  @ParameterizedTest
  @MethodSource("badOptions")
  void rejectsOptionsThatDoNotMatchTheColumn(IngestOptions options, String message) {
    Dataset<Row> df =
        spark
            .range(3)
            .selectExpr(
                "int(id) as i", "1f as f", "'x' as s", "array(1) as a", "array(array(1)) as m");

    assertThatThrownBy(() -> IngestPlan.of(df, options, 2)).hasMessageContaining(message);
  }

  @Test
  void oneDifferingRowMakesAColumnRagged() {
    for (int odd : new int[] {0, 50, 9_999}) {
      Dataset<Row> df =
          spark
              .range(0, 10_000, 1, 2)
              .selectExpr("id", "if(id = " + odd + ", array(1, 2), array(1, 2, 3)) as c");
      for (int ranks : new int[] {1, 2, 3}) {
        Loads.Loaded loaded = Loads.load(df, ranks);
        assertThat(loaded.schema()).hasToString("Schema[id: int64, c: int32[?]]");
        assertThat(loaded.column("c").get(odd)).isEqualTo(List.of(1, 2));
      }
    }
  }

  @Test
  void namesTheRowThatDiffersFromTheGuessedShape() {
    Dataset<Row> df =
        spark.range(0, 10_000, 1, 1).selectExpr("if(id = 9876, array(1), array(1, 2)) as c");
    try (IngestPlan plan = IngestPlan.of(df, PLAIN, 2)) {
      assertThat(plan.schema()).hasToString("Schema[c: int32[2]]");
      assertThatThrownBy(() -> Loads.attempt(plan, 2))
          .isInstanceOf(NotUniformException.class)
          .hasMessage(
              "column \"c\", row 9,876: 1 elements where other rows have 2;"
                  + " the column must be loaded as RAGGED");
      assertThat(Loads.attempt(plan.withRagged("c"), 2).rows()).hasSize(10_000);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {40, 60})
  void detectsChangedFiles(int rowsAfter) throws Exception {
    Path before = write("before", 50);
    Path after = write("after", rowsAfter);
    try (IngestPlan plan = IngestPlan.of(spark.read().json(before.toString()), PLAIN, 3)) {
      Path old = file(before);
      Files.copy(file(after), old, StandardCopyOption.REPLACE_EXISTING);
      Files.deleteIfExists(old.resolveSibling("." + old.getFileName() + ".crc"));
      assertThatThrownBy(() -> Loads.attempt(plan, 3))
          .isInstanceOf(SourceChangedException.class)
          .hasMessageContaining(" changed: 50 when the load was planned, now ");
    }
  }

  private Path write(String name, int rows) {
    Path path = folder.resolve(name);
    spark
        .range(0, rows, 1, 1)
        .selectExpr(rows == 40 ? "id + 1000000000 as id" : "id % 2 as id")
        .write()
        .json(path.toString());
    return path;
  }

  private static Path file(Path folder) throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(path -> path.toString().endsWith(".json")).findFirst().orElseThrow();
    }
  }

  @Test
  void rejectsStreamsAndZeroRanks() {
    assertThatThrownBy(() -> IngestPlan.of(spark.readStream().format("rate").load(), PLAIN, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("streaming");
    assertThatThrownBy(() -> IngestPlan.of(spark.range(3).toDF(), PLAIN, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ranks: 0 below 1");
  }
}
