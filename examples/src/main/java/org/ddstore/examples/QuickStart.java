// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankTask;

/**
 * A program that keeps a data set, in Parquet unless {@code spark.sql.sources.default} says
 * otherwise, in the memory of the executors and reads random rows on every rank.
 *
 * <pre>
 * spark-submit --class org.ddstore.examples.QuickStart --jars ddstore-spark_2.13-0.1.0.jar \
 *     ddstore-examples-0.1.0.jar PATH COLUMN
 * </pre>
 */
public final class QuickStart {
  private static final int N = 100_000;

  private QuickStart() {}

  /** Prints, for each rank, the mean of a column of floats over 100,000 random rows. */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 2) {
      throw new IllegalArgumentException("usage: QuickStart PATH COLUMN (of type float)");
    }
    try (SparkSession spark = SparkSession.builder().appName("quick start").getOrCreate()) {
      System.out.println(means(spark.read().load(arguments[0]), arguments[1]));
    }
  }

  static List<Double> means(Dataset<Row> frame, String column) {
    RankTask<Double> mean =
        rank -> { // on every executor slot, next to its shard of the rows
          long[] rows = new SplittableRandom(7).longs(N, 0, rank.rows().rows()).toArray();
          try (Reader reader = rank.rows().reader(column);
              Batch batch = reader.getBatch(rows)) { // any rows, from any rank
            Tensor x = batch.field(column);
            return LongStream.range(0, N).mapToDouble(x::getFloat).average().orElseThrow();
          }
        };
    return DDStores.from(frame).run(mean);
  }
}
