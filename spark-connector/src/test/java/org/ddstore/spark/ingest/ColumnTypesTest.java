// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.ddstore.types.DType.BFLOAT16;
import static org.ddstore.types.DType.FLOAT16;
import static org.ddstore.types.DType.FLOAT32;
import static org.ddstore.types.DType.FLOAT64;
import static org.ddstore.types.DType.INT64;
import static org.ddstore.types.DType.UINT8;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every type of column against Spark's own Row objects, by each way that rows can come. */
class ColumnTypesTest {
  @TempDir Path folder;

  private final SparkSession spark = Sparks.local();

  /** The ways of rows: literal, columnar from files, unsafe from files, stored. */
  enum Way {
    LITERAL,
    COLUMNAR,
    UNSAFE,
    STORED
  }

  private Dataset<Row> by(Way way, Dataset<Row> df) {
    if (way == Way.LITERAL) {
      return df;
    }
    String path = folder.resolve("data" + System.nanoTime()).toString();
    df.coalesce(1).write().parquet(path);
    Dataset<Row> read = spark.read().parquet(path);
    return switch (way) {
      case UNSAFE -> read.where("n >= 0");
      case STORED -> read.repartition(1);
      default -> read;
    };
  }

  private static List<Object> oracle(Dataset<Row> df, String column) {
    return oracle(df, List.of(column)).get(column);
  }

  /** The values of columns as Spark reads them, in one job. */
  private static Map<String, List<Object>> oracle(Dataset<Row> df, List<String> columns) {
    List<Row> rows =
        df.select(columns.stream().map(functions::col).toArray(Column[]::new)).collectAsList();
    Map<String, List<Object>> values = new HashMap<>();
    for (int i = 0; i < columns.size(); i++) {
      int at = i;
      values.put(columns.get(i), rows.stream().map(row -> plain(row.get(at))).toList());
    }
    return values;
  }

  private static void assertColumns(Loads.Loaded loaded, Dataset<Row> df, String... columns) {
    oracle(df, List.of(columns))
        .forEach(
            (column, values) -> assertThat(loaded.column(column)).as(column).isEqualTo(values));
  }

  /** Arrays as flat lists, bytes as buffers, dates and times as numbers. */
  private static Object plain(Object value) {
    if (value instanceof scala.collection.Seq<?> seq) {
      List<Object> flat = new ArrayList<>();
      for (Object item : scala.jdk.javaapi.CollectionConverters.asJava(seq)) {
        Object element = plain(item);
        if (element instanceof List<?> inner) {
          flat.addAll(inner);
        } else {
          flat.add(element);
        }
      }
      return flat;
    } else if (value instanceof byte[] bytes) {
      return ByteBuffer.wrap(bytes);
    } else if (value instanceof java.sql.Date date) {
      return (int) date.toLocalDate().toEpochDay();
    } else if (value instanceof java.sql.Timestamp time) {
      return Math.floorDiv(time.getTime(), 1000L) * 1_000_000 + time.getNanos() / 1000;
    } else if (value instanceof LocalDateTime time) {
      return ChronoUnit.MICROS.between(LocalDateTime.of(1970, 1, 1, 0, 0), time);
    }
    return value;
  }

  @ParameterizedTest
  @EnumSource
  void storesScalars(Way way) {
    Dataset<Row> df =
        by(
            way,
            spark.sql(
                "select * from values (0L, true, -128Y, -32768S, -2147483648,"
                    + " -9223372036854775808L,  float('-inf'), double('nan'), '', x'',"
                    + " date'0001-01-01',  timestamp'1900-01-01 00:00:00.000001',"
                    + " timestamp_ntz'1969-12-31 23:59:59.999999'), (1L, false, 127Y, 32767S,"
                    + " 2147483647, 9223372036854775807L,  float('1e-45'), double('-0.0'), 'grüße"
                    + " 𝄞 日本', x'00ff80', date'9999-12-31',  timestamp'2100-02-28"
                    + " 12:34:56.123456', timestamp_ntz'2000-01-01 00:00:00') as t(n, bool, i8,"
                    + " i16, i32, i64, f32, f64, text, bytes, day, at, wall)"));

    Loads.Loaded loaded = Loads.load(df, 2);

    assertThat(loaded.schema())
        .hasToString(
            "Schema[n: int64, bool: bool, i8: int8, i16: int16, i32: int32, i64: int64,"
                + " f32: float32, f64: float64, text: string, bytes: bytes, day: int32, at: int64,"
                + " wall: int64]");
    assertColumns(loaded, df, df.columns());
  }

  @ParameterizedTest
  @EnumSource
  void uniformArraysAreFixedAndOthersRagged(Way way) {
    Dataset<Row> df =
        by(
            way,
            spark
                .range(0, 300, 1, 1)
                .selectExpr(
                    "id as n",
                    "array(id, id + 1, -id) as longs",
                    "array(float(id), float('nan')) as floats",
                    "array(id % 2 = 0, true) as flags",
                    "array(cast(id % 100 as byte)) as bytes",
                    "array(smallint(id), smallint(-id)) as shorts",
                    "transform(sequence(1, int(id % 5)), i -> double(i) / 3) as steps",
                    "slice(array(int(id), 2, 3), 1, int(id % 4)) as ragged",
                    "cast(array() as array<int>) as empty"));

    Loads.Loaded loaded = Loads.load(df, 3);

    assertThat(loaded.schema().toString())
        .contains("longs: int64[3], floats: float32[2], flags: bool[2], bytes: int8[1]")
        .contains("shorts: int16[2], steps: float64[?], ragged: int32[?], empty: int32[?]");
    assertColumns(loaded, df, df.columns());
  }

  @ParameterizedTest
  @EnumSource
  void nestedArraysTakeADeclaredShape(Way way) {
    Dataset<Row> df =
        by(
            way,
            spark
                .range(0, 50, 1, 1)
                .selectExpr(
                    "id as n",
                    "transform(sequence(1, 2), i -> transform(sequence(1, 3), j -> float(id * i +"
                        + " j))) as m",
                    "transform(sequence(1, 2), i -> array(array(id, i), array(-id, 7L))) as deep",
                    "transform(sequence(1, int(id % 3) + 1), i -> array(double(id), double(i))) as"
                        + " points",
                    "transform(sequence(1, 6), i -> smallint(i + id)) as flat"));
    IngestOptions options =
        IngestOptions.defaults()
            .field("m", FLOAT32, 2, 3)
            .field("deep", INT64, 2, 2, 2)
            .raggedField("points", FLOAT64, 2)
            .field("flat", FLOAT32, 3, 2);

    Loads.Loaded loaded = Loads.load(df, options, 3);

    assertThat(loaded.schema().toString())
        .contains(
            "m: float32[2, 3], deep: int64[2, 2, 2], points: float64[?, 2], flat: float32[3, 2]");
    assertColumns(loaded, df, "m", "deep", "points");
    assertThat(loaded.column("flat"))
        .isEqualTo(oracle(df.selectExpr("cast(flat as array<float>) as flat"), "flat"));
  }

  @ParameterizedTest
  @EnumSource
  void storesImagesFromBytesOrSmallIntegers(Way way) {
    Dataset<Row> df =
        by(
            way,
            spark
                .range(0, 20, 1, 1)
                .selectExpr(
                    "id as n",
                    "transform(sequence(0, 3), i -> int(id * 13 + i) % 256) as ints",
                    "transform(sequence(0, 3), i -> smallint(250 + i)) as shorts",
                    "cast(array(0, 127, 3, 4) as array<tinyint>) as tiny",
                    "unhex('00ff80' || lpad(hex(id), 2, '0')) as raw",
                    "unhex('003cff7b') as halves",
                    "array(smallint(15360), smallint(-1)) as bits"));
    IngestOptions options =
        IngestOptions.defaults()
            .field("ints", UINT8, 2, 2)
            .field("shorts", UINT8, 4)
            .field("tiny", UINT8, 2, 2)
            .field("raw", UINT8, 2, 2)
            .field("halves", FLOAT16, 2)
            .field("bits", BFLOAT16, 2);

    Loads.Loaded loaded = Loads.load(df, options, 2);

    oracle(df, List.of("ints", "shorts", "tiny"))
        .forEach(
            (column, values) ->
                assertThat(loaded.column(column).stream().map(Object::toString))
                    .as(column)
                    .isEqualTo(values.stream().map(Object::toString).toList()));
    assertThat(loaded.column("raw").get(7)).isEqualTo(List.of(0, 255, 128, 7));
    assertThat(loaded.column("halves").get(0)).isEqualTo(List.of((short) 0x3c00, (short) 0x7bff));
    assertThat(loaded.column("bits").get(0)).isEqualTo(List.of((short) 15360, (short) -1));
  }

  @ParameterizedTest
  @EnumSource
  void structsAreFlattened(Way way) {
    Dataset<Row> df =
        by(
            way,
            spark
                .range(0, 30, 1, 1)
                .selectExpr(
                    "named_struct('x', id, 'in', named_struct('text', 'r' || id, 'v', array(id,"
                        + " 1L))) as s",
                    "id as n",
                    "named_struct('q', float(id)) as t"));

    Loads.Loaded loaded = Loads.load(df, 2);
    assertThat(loaded.schema())
        .hasToString(
            "Schema[s.x: int64, s.in.text: string, s.in.v: int64[2], n: int64, t.q: float32]");
    assertColumns(loaded, df, "s.x", "s.in.text", "s.in.v", "t.q");
    assertThat(Loads.load(df, IngestOptions.defaults().columns("t", "s.in"), 2).schema())
        .hasToString("Schema[t.q: float32, s.in.text: string, s.in.v: int64[2]]");
  }

  private Dataset<Row> vectors(String... rows) {
    String type = "struct<type:tinyint,size:int,indices:array<int>,values:array<double>>";
    List<String> values = new ArrayList<>();
    for (int i = 0; i < rows.length; i++) {
      values.add("(" + i + "L, cast(" + rows[i] + " as " + type + "))");
    }
    return spark.sql("select * from values " + String.join(", ", values) + " as t(n, v)");
  }

  private static final String DENSE =
      "named_struct('type', 1, 'size', null, 'indices', null, 'values', %s)";
  private static final String SPARSE =
      "named_struct('type', 0, 'size', 9, 'indices', %s, 'values', %s)";

  @ParameterizedTest
  @EnumSource
  void vectorsOfOneSizeAreFixed(Way way) {
    Dataset<Row> df =
        by(way, vectors(DENSE.formatted("array(1, 2)"), DENSE.formatted("array(-0.5, 4)")));

    Loads.Loaded loaded = Loads.load(df, 2);

    assertThat(loaded.schema()).hasToString("Schema[n: int64, v: float64[2]]");
    assertThat(loaded.column("v")).isEqualTo(oracle(df, "v.values"));
  }

  @ParameterizedTest
  @EnumSource
  void vectorsOfSeveralSizesAreRagged(Way way) {
    Dataset<Row> df =
        by(
            way,
            vectors(
                DENSE.formatted("array(1, 2)"),
                DENSE.formatted("array()"),
                DENSE.formatted("array(7)")));

    Loads.Loaded loaded = Loads.load(df, 2);

    assertThat(loaded.schema()).hasToString("Schema[n: int64, v: float64[?]]");
    assertThat(loaded.column("v")).isEqualTo(oracle(df, "v.values"));
  }

  @ParameterizedTest
  @EnumSource
  void oneSparseVectorMakesAllSparse(Way way) {
    Dataset<Row> df =
        by(
            way,
            vectors(
                DENSE.formatted("array(1.5, 2)"),
                SPARSE.formatted("array(3, 8)", "array(-1, 1)"),
                SPARSE.formatted("array()", "array()")));

    Loads.Loaded loaded = Loads.load(df, 2);

    assertThat(loaded.schema())
        .hasToString("Schema[n: int64, v.size: int32, v.indices: int32[?], v.values: float64[?]]");
    assertThat(loaded.column("v.values")).isEqualTo(oracle(df, "v.values"));
    assertThat(loaded.column("v.indices"))
        .isEqualTo(List.of(List.of(0, 1), List.of(3, 8), List.of()));
    assertThat(loaded.column("v.size")).isEqualTo(List.of(2, 9, 9));
  }

  @Test
  void storesVectorsInUserDefinedTypes() {
    StructType schema = new StructType().add("v", new VectorType());
    Dataset<Row> df =
        spark.createDataFrame(
            List.of(RowFactory.create(new double[] {1, 2}), RowFactory.create(new double[] {3, 4})),
            schema);

    Loads.Loaded loaded = Loads.load(df, 2);

    assertThat(loaded.schema()).hasToString("Schema[v: float64[2]]");
    assertThat(loaded.column("v")).isEqualTo(List.of(List.of(1.0, 2.0), List.of(3.0, 4.0)));
  }

  @Test
  @Tag("slow")
  void loadsCsvJsonAndOrc() {
    Dataset<Row> df =
        spark.range(0, 500, 1, 3).selectExpr("id", "'row ' || id as text", "id / 4 as quarter");
    for (String format : List.of("csv", "json", "orc")) {
      String path = folder.resolve(format).toString();
      df.write().format(format).option("header", "true").save(path);
      Dataset<Row> read =
          spark.read().format(format).schema(df.schema()).option("header", "true").load(path);
      for (int ranks : new int[] {1, 3}) {
        Loads.Loaded loaded = Loads.load(read.where("id <> 77"), ranks);
        assertThat(loaded.column("id"))
            .as(format)
            .isEqualTo(oracle(read.where("id <> 77").orderBy("id"), "id"));
        assertThat(loaded.column("text"))
            .isEqualTo(loaded.column("id").stream().map(id -> "row " + id).toList());
        assertThat(loaded.column("quarter"))
            .isEqualTo(oracle(read.where("id <> 77").orderBy("id"), "quarter"));
      }
    }
  }

  @Test
  void nullsPaddingAndTruncationFollowTheOptions() {
    Dataset<Row> df =
        spark.sql(
            "select * from values (1, 'a', array(1, null), array(5), x'01'),"
                + " (null, null, null, array(5, 6, 7, 8), null), (3, 'b', array(1, 2), null, x'')"
                + " as t(i, s, a, f, b)");
    IngestOptions options =
        IngestOptions.defaults()
            .fillNulls("i", -1)
            .fillNulls("s", "none")
            .fillNulls("a", 9)
            .fillNulls("b", new byte[] {4})
            .fillNulls("f", 2)
            .field("f", FLOAT32, 3)
            .pad("f", 0.5)
            .truncate("f");

    Loads.Loaded loaded = Loads.load(df, options, 2);

    assertThat(loaded.column("i")).isEqualTo(List.of(1, -1, 3));
    assertThat(loaded.column("s")).isEqualTo(List.of("a", "none", "b"));
    assertThat(loaded.column("a")).isEqualTo(List.of(List.of(1, 9), List.of(), List.of(1, 2)));
    assertThat(loaded.column("f"))
        .isEqualTo(List.of(List.of(5f, 0.5f, 0.5f), List.of(5f, 6f, 7f), List.of(2f, 2f, 2f)));
    assertThat(loaded.column("b").get(1)).isEqualTo(ByteBuffer.wrap(new byte[] {4}));
  }

  @Test
  void acceptsColumnNamesWithSpecialCharacters() {
    Dataset<Row> df =
        spark.range(3).selectExpr("id as `a.b`", "id as `c``d e`", "id as `ddstore position`");

    assertThat(Loads.load(df, IngestOptions.defaults().shuffle(3), 2).schema())
        .hasToString("Schema[a.b: int64, c`d e: int64, ddstore position: int64]");
  }

  @Test
  void sizesAreExactForFixedRecordsAndEstimatedForOthers() {
    Dataset<Row> fixed = spark.range(0, 1000).selectExpr("id", "array(1f, 2f) as x");
    try (IngestPlan plan = IngestPlan.of(fixed, IngestOptions.defaults(), 2)) {
      assertThat(plan.isSizeExact()).isTrue();
      assertThat(plan.estimatedBytes()).isEqualTo(16_000);
      IngestPlan ragged = plan.withRagged("x");
      assertThat(ragged.isSizeExact()).isFalse();
      assertThat(ragged.estimatedBytes()).isEqualTo(20_000);
    }
  }
}
