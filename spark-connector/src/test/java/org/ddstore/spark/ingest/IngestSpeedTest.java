// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.apache.commons.math3.stat.descriptive.rank.Median;
import org.apache.commons.math3.stat.descriptive.rank.Min;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.reflect.ClassTag$;

/** Prints the speed of a load beside that of a scan which only fills arrays. */
@Tag("exhaustive")
class IngestSpeedTest {
  private static final int ROWS = 1_000_000;
  private static final int RANKS = 2;

  /** Each way once per round, so that other load on the machine meets all alike. */
  private static final int ROUNDS = 5;

  @TempDir static Path folder;

  @Test
  void printsTheSpeedOfLoadsAndScans() {
    SparkSession spark = Sparks.local();
    String path = folder.resolve("floats").toString();
    spark
        .range(0, ROWS, 1, 4)
        .selectExpr("transform(sequence(0, 63), i -> cast(id * 64 + i as float)) as x")
        .write()
        .parquet(path);
    Dataset<Row> df = spark.read().parquet(path);
    IngestOptions plain = IngestOptions.defaults();
    Dataset<Row> filtered = df.where("size(x) > 0");
    Map<String, LongSupplier> works = new LinkedHashMap<>();
    works.put("bare scan into arrays", () -> scan(df));
    works.put("load, columnar", () -> load(df, plain));
    works.put("load, unsafe rows", () -> load(filtered, plain));
    works.put("load, shuffled", () -> load(df, plain.shuffle(1)));
    Map<String, double[]> seconds = new LinkedHashMap<>();
    for (int round = 0; round < ROUNDS; round++) {
      int at = round;
      works.forEach(
          (name, work) ->
              seconds.computeIfAbsent(name, key -> new double[ROUNDS])[at] = time(work));
    }
    seconds.forEach(IngestSpeedTest::report);
  }

  private static double time(LongSupplier work) {
    long start = System.nanoTime();
    assertThat(work.getAsLong()).isEqualTo(ROWS);
    return (System.nanoTime() - start) / 1e9;
  }

  private static void report(String what, double... seconds) {
    double median = new Median().evaluate(seconds);
    System.out.printf(
        Locale.ROOT,
        "%s: median %.2f s, %.2f M rows/s; best %.2f s; all %s%n",
        what,
        median,
        ROWS / median / 1e6,
        new Min().evaluate(seconds),
        Arrays.toString(seconds));
  }

  private static long scan(Dataset<Row> df) {
    return count(
        df.queryExecution().toRdd(),
        (rank, rows) -> {
          long count = 0;
          float sum = 0;
          while (rows.hasNext()) {
            float[] values = rows.next().getArray(0).toFloatArray();
            sum += values[63];
            count++;
          }
          return List.of(sum < 0 ? 0 : count).iterator();
        });
  }

  private static long load(Dataset<Row> df, IngestOptions options) {
    try (IngestPlan plan = IngestPlan.of(df, options, RANKS)) {
      assertThat(plan.schema().isFixed()).isTrue();
      RowEncoder encoder = plan.encoder(IntStream.range(0, RANKS).toArray());
      return count(
          plan.shards(),
          (rank, rows) -> {
            try (ShardWriter writer =
                ShardWriter.create(encoder.schema(), StoreOptions.defaults())) {
              encoder.load(rank, rows, writer);
              return List.of(writer.rows()).iterator();
            }
          });
    }
  }

  private static long count(
      RDD<InternalRow> rdd, Function2<Integer, Iterator<InternalRow>, Iterator<Long>> count) {
    return new JavaRDD<>(rdd, ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class))
        .mapPartitionsWithIndex(count, false).collect().stream().mapToLong(n -> n).sum();
  }
}
