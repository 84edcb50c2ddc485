// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.cli.ClusterOptions;
import org.ddstore.cli.EmbeddedSpark;
import org.ddstore.spark.DDStores;

/**
 * The rounds of {@link IngestBench}, without its options and report.
 *
 * @param frame rows with one array of floats each, from Parquet files
 */
record IngestRun(Dataset<Row> frame) {

  /** Writes the Parquet files to scan and load. */
  static IngestRun write(EmbeddedSpark spark, long rows, int floats) throws IOException {
    String path = spark.scratch("ingest").resolve("rows.parquet").toUri().toString();
    spark
        .session()
        .range(rows)
        .selectExpr("transform(sequence(1, %d), i -> float(id + i)) as x".formatted(floats))
        .write()
        .parquet(path);
    return new IngestRun(spark.session().read().parquet(path));
  }

  /** Measures a scan, then a load. */
  IngestBench.Round measure(ClusterOptions cluster) {
    long scanStart = System.nanoTime();
    frame.queryExecution().toRdd().toJavaRDD().mapPartitions(IngestRun::arrays).collect();
    double scanSeconds = seconds(System.nanoTime() - scanStart);
    long jobStart = System.nanoTime();
    List<Long> loads = cluster.on(DDStores.from(frame)).run(rank -> rank.loadNanos());
    double jobSeconds = seconds(System.nanoTime() - jobStart);
    long slowest = loads.stream().mapToLong(Long::longValue).max().orElseThrow();
    return new IngestBench.Round(scanSeconds, seconds(slowest), jobSeconds);
  }

  /** Converts the float array of each row to a Java array. */
  private static Iterator<Long> arrays(Iterator<InternalRow> rows) {
    long elements = 0;
    while (rows.hasNext()) {
      elements += rows.next().getArray(0).toFloatArray().length;
    }
    return List.of(elements).iterator();
  }

  private static double seconds(long nanos) {
    return (double) nanos / TimeUnit.SECONDS.toNanos(1);
  }
}
