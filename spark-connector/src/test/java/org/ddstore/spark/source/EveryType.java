// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;

/**
 * A DataFrame with a column of every type that a store takes, made of the row number alone. Knows
 * Spark alone: programs use it that find everything else in a jar.
 */
public final class EveryType {
  /** Declared types by column; other columns are not declared. */
  static final Map<String, String> TYPES = new LinkedHashMap<>();

  /** The forms of decimal columns. */
  static final Map<String, String> DECIMALS =
      Map.of("exact", "int64", "rounded", "float64", "prices", "INT64", "cents", "int64");

  private static final String TIMES = "times";

  private static final List<String> COLUMNS =
      List.of(
          "id",
          "id % 3 = 0 as flag",
          "cast(id % 256 - 128 as tinyint) as i8",
          "cast(id % 65536 - 32768 as smallint) as i16",
          "cast(id * 7919 % 2147483647 as int) as i32",
          "id * 1000003 * 1000003 as i64",
          "cast(id as float) / 7 as f32",
          "if(id % 11 = 0, double('nan'), id / 13D) as f64",
          "date_add(date'1900-01-01', cast(id % 60000 as int)) as day",
          "timestamp_micros(id * 1000003 - 2000000000000000) as instant",
          "cast(timestamp_micros(id * 999983) as timestamp_ntz) as wall",
          "if(id % 5 = 0, '', concat('grüße 𝄞 ', id)) as text",
          "cast(repeat(chr(cast(65 + id % 26 as int)), cast(id % 4 as int)) as binary) as blob",
          "array(id, id + 1, -id) as longs",
          "array(float(id), float('nan'), float('-inf')) as floats",
          "array(id % 2 = 0, true) as flags",
          "array(cast(id % 100 as tinyint)) as bytes",
          "array(date_add(date'1970-01-01', cast(id % 999 as int)), date'2024-02-29') as days",
          "array(timestamp_micros(id), timestamp_micros(-id)) as instants",
          "transform(sequence(1, int(id % 5) + 1), i -> double(i) / 3) as steps",
          "slice(array(int(id), 2, 3), 1, int(id % 4)) as ragged",
          "named_struct('x', id, 'in', named_struct('text', concat('r', id), 'v', array(id, 1L)),"
              + " 'last', float(id)) as nested",
          "transform(sequence(1, 2), i -> transform(sequence(1, 3), j -> float(id * i + j))) as"
              + " matrix",
          "transform(sequence(1, 2), i -> array(array(id, i), array(-id, 7L))) as cube",
          "transform(sequence(1, int(id % 3) + 1), i -> array(double(id), double(i))) as points",
          "int(id % 256) as small",
          "id % 1000 as half",
          "double(id % 4096) as narrow",
          "int(id % 2) as bit",
          "id % 2 = 1 as wide",
          "smallint(id % 30000) as raw16",
          "transform(sequence(0, 3), i -> int(id * 13 + i) % 256) as pixels",
          "cast(concat(chr(int(65 + id % 26)), 'bcd') as binary) as image",
          "transform(sequence(1, 6), i -> cast((i + id) % 32768 as smallint)) as flat",
          "cast(id * 1234567 - 5 as decimal(18,3)) as exact",
          "cast(id / 3D as decimal(12,4)) as rounded",
          "array(cast(id / 8D as decimal(9,3)), cast(-0.25 as decimal(9,3))) as prices",
          "cast(id as decimal(9,2)) as cents",
          "named_struct('type', 1Y, 'size', cast(null as int), 'indices', cast(null as array<int>),"
              + " 'values', array(double(id), -0.5D)) as dense",
          "named_struct('type', 0Y, 'size', 9, 'indices', array(int(id % 4), 8),"
              + " 'values', array(double(id), 1D)) as sparse");

  static {
    TYPES.put("matrix", "float32[2,3]");
    TYPES.put("cube", "int64[2,2,2]");
    TYPES.put("points", "float64[?,2]");
    TYPES.put("small", "uint8");
    TYPES.put("half", "int16");
    TYPES.put("narrow", "float32");
    TYPES.put("bit", "bool");
    TYPES.put("wide", "int8");
    TYPES.put("raw16", "bfloat16");
    TYPES.put("pixels", "uint8[2,2]");
    TYPES.put("image", "uint8[2,2]");
    TYPES.put("flat", "float32[3,2]");
    TYPES.put("cents", "int32");
  }

  private EveryType() {}

  /** Rows 0 to {@code rows}. */
  public static Dataset<Row> frame(SparkSession spark, long rows) {
    return spark.range(rows).selectExpr(COLUMNS.toArray(new String[0]));
  }

  /**
   * The rows that one of two frames has more often than the other, found in one pass over both;
   * with the difference, positive for the first frame, as the last column.
   */
  static Dataset<Row> differences(Dataset<Row> one, Dataset<Row> other) {
    Column[] columns = Arrays.stream(one.columns()).map(functions::col).toArray(Column[]::new);
    return one.withColumn(TIMES, functions.lit(1))
        .union(other.withColumn(TIMES, functions.lit(-1)))
        .groupBy(columns)
        .agg(functions.sum(TIMES).as(TIMES))
        .where(functions.col(TIMES).notEqual(0));
  }

  /** {@link #TYPES} as options of a write. */
  public static Map<String, String> writeOptions() {
    Map<String, String> options = new LinkedHashMap<>();
    TYPES.forEach((column, type) -> options.put("type." + column, type));
    DECIMALS.forEach((column, form) -> options.put("decimals." + column, form));
    return options;
  }

  /** The columns without ragged data, so that records are fixed. */
  static List<String> fixedColumns() {
    List<String> fixed = new ArrayList<>(List.of("id", "flag", "i8", "i16", "i32", "i64", "f32"));
    fixed.addAll(List.of("f64", "day", "instant", "wall", "longs", "floats", "flags", "bytes"));
    fixed.addAll(List.of("days", "instants", "matrix", "cube", "small", "half", "narrow", "bit"));
    fixed.addAll(List.of("wide", "raw16", "pixels", "image", "flat", "dense"));
    fixed.addAll(List.of("exact", "rounded", "prices", "cents"));
    return fixed;
  }
}
