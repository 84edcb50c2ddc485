// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.jmh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.local.ScratchDirectory;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Reads of one random row of 64 floats without a store: from one file per sample, and by a query of
 * a cached or stored table. All data are in the page cache.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 5)
@Measurement(iterations = 3, time = 5)
public class AlternativesBenchmark {
  private static final int ROWS = 100_000;
  private static final int ROW_BYTES = 256;

  private final SplittableRandom random = new SplittableRandom(42);
  private ScratchDirectory directory;
  private SparkSession spark;
  private Dataset<Row> parquet;
  private Dataset<Row> cached;

  /** Writes the same number of rows as files and as Parquet. */
  @Setup(Level.Trial)
  public void write() throws IOException {
    directory = ScratchDirectory.create("ddstore-alternatives-");
    Path samples = Files.createDirectory(directory.path().resolve("samples"));
    for (int i = 0; i < ROWS; i++) {
      Files.write(samples.resolve(Integer.toString(i)), new byte[ROW_BYTES]);
    }
    spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.authenticate", "true")
            .config("spark.local.dir", directory.path().toString())
            .getOrCreate();
    String table = directory.path().resolve("table").toString();
    spark
        .range(ROWS)
        .selectExpr("id", "transform(sequence(1, 64), i -> float(id + i)) as x")
        .write()
        .parquet(table);
    parquet = spark.read().parquet(table);
    cached = parquet.persist();
    cached.count();
  }

  @TearDown(Level.Trial)
  public void remove() throws IOException {
    spark.close();
    directory.close();
  }

  /** Measures opening, reading and closing the file of a random sample. */
  @Benchmark
  public byte[] filePerSample() throws IOException {
    String name = Integer.toString(random.nextInt(ROWS));
    return Files.readAllBytes(directory.path().resolve("samples").resolve(name));
  }

  /** Measures a query for a random row of the Parquet files. */
  @Benchmark
  public Row parquetQuery() {
    return parquet.where("id = " + random.nextInt(ROWS)).first();
  }

  /** Measures a query for a random row of the table in Spark's cache. */
  @Benchmark
  public Row sparkCacheQuery() {
    return cached.where("id = " + random.nextInt(ROWS)).first();
  }
}
