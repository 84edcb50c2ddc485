// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.cli.ClusterOptions;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.task.PartitionJob;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The rounds of {@link IngestBench}, without its options and report.
 *
 * @param frame the rows to load
 * @param format format of the files; null for Parquet
 * @param files paths of the files and folders that a library reads; empty for Parquet
 */
record IngestRun(Dataset<Row> frame, SampleFiles format, List<String> files) {
  private static final int FILES = 8;

  /** Writes the Parquet files to scan and load: rows with one array of floats each. */
  static IngestRun write(EmbeddedSpark spark, long rows, int floats) throws IOException {
    String path = spark.scratch("ingest").resolve("rows.parquet").toUri().toString();
    spark
        .session()
        .range(rows)
        .selectExpr("transform(sequence(1, %d), i -> float(id + i)) as x".formatted(floats))
        .write()
        .parquet(path);
    return new IngestRun(spark.session().read().parquet(path), null, List.of());
  }

  static IngestRun write(EmbeddedSpark spark, SampleFiles format, long rows, int floats)
      throws IOException {
    Path folder = spark.scratch("ingest");
    List<String> files = new ArrayList<>();
    for (int i = 0; i < FILES; i++) {
      long count = (i + 1) * rows / FILES - i * rows / FILES;
      if (count > 0) {
        Path file = folder.resolve(format.fileName(i));
        format.write(file, Math.toIntExact(count), floats, i);
        files.add(file.toString());
      }
    }
    int side = SampleFiles.side(floats);
    Dataset<Row> frame =
        spark
            .session()
            .read()
            .format(format.name().toLowerCase(Locale.ROOT))
            .options(
                format == SampleFiles.IMAGES
                    ? Map.of("size", side + "," + side, "columns", "image")
                    : format == SampleFiles.H5AD ? Map.of("columns", "X") : Map.of())
            .load(folder.toUri().toString());
    return new IngestRun(frame, format, files);
  }

  /** Measures a read without DDStore, then a load. */
  IngestBench.Round measure(ClusterOptions cluster, int ranks) {
    double scanSeconds = format == null ? scan() : library(ranks, false);
    Double copySeconds = format == null ? null : library(ranks, true);
    long jobStart = System.nanoTime();
    List<Long> loads = cluster.on(DDStores.from(frame)).run(rank -> rank.loadNanos());
    double jobSeconds = seconds(System.nanoTime() - jobStart);
    long slowest = loads.stream().mapToLong(Long::longValue).max().orElseThrow();
    return new IngestBench.Round(scanSeconds, copySeconds, seconds(slowest), jobSeconds);
  }

  private double scan() {
    long start = System.nanoTime();
    PartitionJob.of(frame.queryExecution().toRdd(), IngestRun::arrays).run();
    return seconds(System.nanoTime() - start);
  }

  /** Converts the float array of each row to a Java array. */
  private static long arrays(scala.collection.Iterator<InternalRow> rows) {
    long elements = 0;
    while (rows.hasNext()) {
      elements += rows.next().getArray(0).toFloatArray().length;
    }
    return elements;
  }

  /**
   * Reads all files by the library, in one task per rank, and returns the time of the slowest.
   *
   * @param copied whether the arrays are then copied to shared memory, as a load must
   */
  private double library(int ranks, boolean copied) {
    SampleFiles format = this.format;
    PartitionJob.Body<String, Long> read =
        paths -> {
          long start = System.nanoTime();
          if (!copied) {
            readAll(format, CollectionConverters.asJava(paths), array -> {});
            return System.nanoTime() - start;
          }
          try (MemoryFile memory = MemoryFile.create()) {
            readAll(format, CollectionConverters.asJava(paths), memory);
            return System.nanoTime() - start;
          }
        };
    RDD<String> paths =
        JavaSparkContext.fromSparkContext(frame.sparkSession().sparkContext())
            .parallelize(files, ranks)
            .rdd();
    List<Long> nanos = PartitionJob.of(paths, read).run();
    return seconds(nanos.stream().mapToLong(Long::longValue).max().orElseThrow());
  }

  private static void readAll(SampleFiles format, Iterator<String> paths, SampleFiles.Sink sink)
      throws IOException {
    while (paths.hasNext()) {
      format.read(Path.of(paths.next()), sink);
    }
  }

  private static double seconds(long nanos) {
    return (double) nanos / TimeUnit.SECONDS.toNanos(1);
  }
}
