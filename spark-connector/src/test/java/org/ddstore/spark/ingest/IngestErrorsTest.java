package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.ddstore.DType.BFLOAT16;
import static org.ddstore.DType.FLOAT32;
import static org.ddstore.DType.INT32;
import static org.ddstore.DType.INT8;
import static org.ddstore.DType.UINT8;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What cannot be stored is said with column and row, and what helps. */
class IngestErrorsTest {
  private static final IngestOptions PLAIN = IngestOptions.defaults();

  @TempDir Path folder;

  private final SparkSession spark = Sparks.local();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cast(id as decimal(5,1)) | DECIMAL(5,1) cannot be stored; cast it: cast(c as double)",
        "map(id, id) | MAP<BIGINT, BIGINT> cannot be stored; take map_keys(c) and map_values(c)",
        "interval 1 day | cannot be stored; cast it: cast(c as bigint)",
        "null | VOID cannot be stored; cast it",
        "array('a') | arrays of STRING cannot be stored; explode the rows",
        "array(named_struct('a', 1)) | arrays of STRUCT",
        "array(array(1)) | need a declared shape: field(\"c\", INT32, ..)",
      })
  void typesThatCannotBeStored(String expression, String message) {
    Dataset<Row> df = spark.range(3).selectExpr("id", expression + " as c");

    assertThatThrownBy(() -> IngestPlan.of(df, PLAIN, 2))
        .isInstanceOf(IngestException.class)
        .hasMessageStartingWith("column \"c\": ")
        .hasMessageContaining(message);
    assertThat(Loads.load(df, PLAIN.withColumns("id"), 2).rows()).hasSize(3);
  }

  static Stream<Arguments> badValues() {
    return Stream.of(
        Arguments.of("if(id = 7, null, id)", PLAIN, "null; give a value with fillNulls(\"c\""),
        Arguments.of("if(id = 7, null, 'x')", PLAIN, "null; give a value"),
        Arguments.of("if(id = 7, null, array(1))", PLAIN, "null; give a value"),
        Arguments.of("array(1, if(id = 7, null, 1))", PLAIN, "null element; give a value"),
        Arguments.of("array(1f, if(id = 7, null, 1f), 2f)", PLAIN, "null element"),
        Arguments.of("id * 40", PLAIN.withField("c", UINT8), "280 is outside [0, 255]"),
        Arguments.of("if(id = 7, -1, 1)", PLAIN.withField("c", UINT8), "-1 is outside [0, 255]"),
        Arguments.of("if(id = 7, 7e38, 1e0)", PLAIN.withField("c", FLOAT32), "7.0E38 is outside"),
        Arguments.of("int(16777210 + id)", PLAIN.withField("c", FLOAT32), "16777217 is outside"),
        Arguments.of(
            "array(0, id * 20)",
            PLAIN.withField("c", INT8, 2),
            "element 140 is outside [-128, 127]"),
        Arguments.of(
            "if(id = 7, array(1), array(1, 2))",
            PLAIN.withField("c", INT32, 2),
            "length 1 does not fit c int32[2] (2 elements); fill it up with pad(\"c\", ..)"),
        Arguments.of(
            "if(id = 7, array(1, 2, 3), array(1, 2))",
            PLAIN.withField("c", INT32, 2).withPadding("c", 0),
            "length 3 does not fit c int32[2] (2 elements); cut it with truncate(\"c\")"),
        Arguments.of(
            "if(id = 7, array(array(1), array(1, 2)), array(array(1, 2), array(3, 4)))",
            PLAIN.withField("c", INT32, 2, 2),
            "length 1 does not fit c int32[2, 2] (2 in dimension 1)"),
        Arguments.of(
            "if(id = 7, array(1, 2, 3), array(1, 2))",
            PLAIN.withRagged("c", INT32, 2),
            "3 elements are no whole rows of c int32[?, 2]"),
        Arguments.of(
            "if(id = 7, array(array(1), null), array(array(1), array(2)))",
            PLAIN.withField("c", INT32, 2, 1),
            "null in place of an inner array"),
        Arguments.of(
            "if(id = 7, x'0102', x'010203')",
            PLAIN.withField("c", UINT8, 3),
            "2 bytes, but [c uint8[3]] has 3"));
  }

  @ParameterizedTest
  @MethodSource("badValues")
  void valuesThatDoNotFit(String expression, IngestOptions options, String message) {
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
  void nullStructsNameTheColumnInside() {
    Dataset<Row> df =
        spark.range(5).selectExpr("if(id = 3, null, named_struct('a', id, 'b', 1)) as s");

    assertThatThrownBy(() -> Loads.load(df, PLAIN, 2))
        .isInstanceOf(IngestException.class)
        .hasMessageStartingWith("column \"s.a\", row 3: null");
  }

  static Stream<Arguments> badOptions() {
    return Stream.of(
        Arguments.of(PLAIN.withField("nope", INT32), "declared field \"nope\": no such column"),
        Arguments.of(PLAIN.withColumns("nope"), "column \"nope\": no such column; there are [i, f"),
        Arguments.of(PLAIN.withFilledNulls("nope", 1), "fill \"nope\": no such column"),
        Arguments.of(PLAIN.withPadding("nope", 1), "padding \"nope\": no such column"),
        Arguments.of(PLAIN.withTruncation("nope"), "truncation \"nope\": no such column"),
        Arguments.of(PLAIN.withField("f", INT32), "float32 values cannot become int32"),
        Arguments.of(PLAIN.withField("i", BFLOAT16), "give them as smallint or binary"),
        Arguments.of(PLAIN.withField("i", INT32, 2), "one number per row cannot be declared"),
        Arguments.of(PLAIN.withField("s", INT32), "text cannot be declared as int32"),
        Arguments.of(PLAIN.withField("a", INT32), "arrays need a shape"),
        Arguments.of(PLAIN.withField("m", INT32, 2, 2, 2), "nested 2 deep do not fit the 3"),
        Arguments.of(PLAIN.withFilledNulls("i", "x"), "cannot be filled with a String"),
        Arguments.of(PLAIN.withFilledNulls("s", 3), "cannot be filled with a Integer"),
        Arguments.of(PLAIN.withPadding("i", 3), "padding and truncation are for arrays"),
        Arguments.of(PLAIN.withPadding("a", 3), "padding and truncation need a declared shape"));
  }

  @ParameterizedTest
  @MethodSource("badOptions")
  void optionsThatDoNotFit(IngestOptions options, String message) {
    Dataset<Row> df =
        spark
            .range(3)
            .selectExpr(
                "int(id) as i", "1f as f", "'x' as s", "array(1) as a", "array(array(1)) as m");

    assertThatThrownBy(() -> IngestPlan.of(df, options, 2)).hasMessageContaining(message);
  }

  @Test
  void aColumnIsRaggedIfOneRowDiffersWhereverItIs() {
    for (int odd : new int[] {0, 50, 9_999}) {
      Dataset<Row> df =
          spark
              .range(0, 10_000, 1, 2)
              .selectExpr("id", "if(id = " + odd + ", array(1, 2), array(1, 2, 3)) as c");
      for (int ranks : new int[] {1, 2, 3}) {
        Loads.Loaded loaded = Loads.load(df, ranks);
        assertThat(loaded.schema()).hasToString("[id int64, c int32[?]]");
        assertThat(loaded.column("c").get(odd)).isEqualTo(List.of(1, 2));
      }
    }
  }

  @Test
  void theGuessIsCorrectedByATypedException() {
    Dataset<Row> df =
        spark.range(0, 10_000, 1, 1).selectExpr("if(id = 9876, array(1), array(1, 2)) as c");
    try (IngestPlan plan = IngestPlan.of(df, PLAIN, 2)) {
      assertThat(plan.schema()).hasToString("[c int32[2]]");
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
  void filesThatChangeAreNoticed(int rowsAfter) throws Exception {
    Path before = write("before", 50);
    Path after = write("after", rowsAfter);
    try (IngestPlan plan = IngestPlan.of(spark.read().json(before.toString()), PLAIN, 3)) {
      Path old = file(before);
      Files.copy(file(after), old, StandardCopyOption.REPLACE_EXISTING);
      Files.deleteIfExists(old.resolveSibling("." + old.getFileName() + ".crc"));
      assertThatThrownBy(() -> Loads.attempt(plan, 3))
          .isInstanceOf(SourceChangedException.class)
          .hasMessageContaining("had 50 rows when the load was planned");
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
  void refusesStreamsAndNoRanks() {
    assertThatThrownBy(() -> IngestPlan.of(spark.readStream().format("rate").load(), PLAIN, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("streaming");
    assertThatThrownBy(() -> IngestPlan.of(spark.range(3).toDF(), PLAIN, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0 ranks");
  }
}
