// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.spark.SparkArchive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.reflect.ClassTag$;

/** Checks the memory that an executor with a small heap needs to load a shard of 512 MiB. */
@Tag("slow")
@Tag("system")
class IngestMemoryTest {
  private static final long ROWS = 1L << 20;
  private static final int ROW_BYTES = 512;
  private static final int ROWS_BETWEEN_LOOKS = 1 << 14;

  /** Half of the shard. Found were 64 MiB in scan order, 0 MiB shuffled (2026-11-26). */
  private static final long MAX_BYTES = 256L << 20;

  @TempDir static Path folder;

  /** The rows; records the memory of this process, without shared memory, as they are read. */
  private static final class Watched implements Iterator<InternalRow> {
    private final Iterator<InternalRow> rows;
    private final long startBytes = anonymousBytes();
    private long peakBytes = startBytes;
    private long count;

    Watched(Iterator<InternalRow> rows) {
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public InternalRow next() {
      if (count++ % ROWS_BETWEEN_LOOKS == 0) {
        peakBytes = Math.max(peakBytes, anonymousBytes());
      }
      return rows.next();
    }
  }

  private static long anonymousBytes() {
    try {
      return Files.readAllLines(Path.of("/proc/self/status")).stream()
          .filter(line -> line.startsWith("RssAnon:"))
          .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("[^0-9]", "")))
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void loadsAShardAsLargeAsTheHeap() {
    Sparks.stop();
    SparkConf conf =
        new SparkConf()
            .setMaster("local-cluster[1,1,512]")
            .setAppName("ingest memory")
            .set("spark.executor.memory", "512m")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1");
    SparkArchive.executorSettings().forEach(conf::set);
    SparkSession spark = SparkSession.builder().config(conf).getOrCreate();
    try {
      String path = folder.resolve("rows").toString();
      spark
          .range(0, ROWS, 1, 4)
          .selectExpr("unhex(repeat(sha2(string(id), 256), %d)) as x".formatted(ROW_BYTES / 32))
          .write()
          .parquet(path);
      Dataset<Row> df = spark.read().parquet(path);
      report("in scan order", df, IngestOptions.defaults());
      report("shuffled", df, IngestOptions.defaults().shuffle(1));
    } finally {
      spark.stop();
      SparkSession.clearActiveSession();
      SparkSession.clearDefaultSession();
    }
  }

  private static void report(String what, Dataset<Row> df, IngestOptions options) {
    try (IngestPlan plan = IngestPlan.of(df, options, 1)) {
      RowEncoder encoder = plan.encoder(0);
      FlatMapFunction<Iterator<InternalRow>, long[]> load =
          rows -> {
            Watched watched = new Watched(rows);
            try (ShardWriter writer =
                ShardWriter.create(encoder.schema(), StoreOptions.defaults())) {
              encoder.load(0, watched, writer);
              return List.of(new long[] {watched.startBytes, watched.peakBytes, writer.bytes()})
                  .iterator();
            }
          };
      long[] found =
          new JavaRDD<>(plan.shards(), ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class))
              .mapPartitions(load)
              .collect()
              .get(0);
      assertThat(found[2]).isBetween(ROWS * ROW_BYTES, ROWS * (ROW_BYTES + 16));
      assertThat(found[1] - found[0]).as("bytes beside the shard, " + what).isLessThan(MAX_BYTES);
      System.out.printf(
          Locale.ROOT,
          "512 MiB shard %s: %d MiB before, %d MiB at most, %d MiB more%n",
          what,
          found[0] >> 20,
          found[1] >> 20,
          (found[1] - found[0]) >> 20);
    }
  }
}
