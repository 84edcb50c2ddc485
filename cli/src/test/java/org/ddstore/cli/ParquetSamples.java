// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;

/** Parquet data as users have it, for tests of commands. */
final class ParquetSamples {
  static final long ROWS = 1000;

  /** Schema entry that column {@code m} needs. */
  static final String MATRIX = "m=float32[2,2]";

  /** Columns of {@link #writeMixed}, as {@code get} prints them. */
  private static final String[] AS_PRINTED = {
    "id",
    "k",
    "one",
    "x",
    "y",
    "t",
    "pair",
    "seq",
    "a.b as `a.b`",
    "a.c.d as `a.c.d`",
    "raw",
    "flag",
    "unix_date(day) as day",
    "unix_micros(ts) as ts",
    "m",
    "part"
  };

  private ParquetSamples() {}

  static SparkSession session() {
    return SparkSession.builder()
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate();
  }

  /** Several files in folders whose names need escaping; every type that a store takes. */
  static void writeMixed(SparkSession spark, Path directory) {
    spark
        .range(0, ROWS, 1, 3)
        .selectExpr(
            "id",
            "id % 7 as k",
            "1 as one",
            "float(id) / 3 as x",
            "if(id % 5 = 0, float('NaN'), float(id) / 7) as y",
            "concat('Zeile ', id, ' größer 数据 🚀') as t",
            "array(id, -id) as pair",
            "sequence(0, id % 4) as seq",
            "named_struct('b', int(id), 'c', named_struct('d', concat('d', id))) as a",
            "cast(concat('raw', id) as binary) as raw",
            "id % 2 = 0 as flag",
            "date_add(date'1969-12-01', int(id)) as day",
            "timestamp_micros(id * 1000001 - 5000) as ts",
            "array(array(float(id), 0.5f), array(-1f, 2f)) as m",
            "if(id % 3 = 0, 'b c', 'a%20') as part")
        .write()
        .partitionBy("part")
        .parquet(directory.toString());
  }

  /** The rows of a data set as JSON, in the order in which a store numbers them. */
  static java.util.List<String> expected(SparkSession spark, Path directory, String... orderBy) {
    Dataset<Row> files = spark.read().parquet(directory.toString());
    return files
        .orderBy(
            Stream.concat(
                    Stream.of(orderBy), Stream.of("_metadata.file_path", "_metadata.row_index"))
                .map(functions::col)
                .toArray(org.apache.spark.sql.Column[]::new))
        .selectExpr(AS_PRINTED)
        .toJSON()
        .collectAsList();
  }
}
