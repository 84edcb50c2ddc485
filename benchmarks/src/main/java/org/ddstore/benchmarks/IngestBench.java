// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.cli.ClusterOptions;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Progress;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.task.PartitionJob;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import scala.jdk.javaapi.CollectionConverters;

/** The command that compares a load with a read of the same files without DDStore. */
@Command(
    name = "ingest",
    mixinStandardHelpOptions = true,
    description = {
      "Alternates a load of float arrays from Parquet with a scan of the files into Java arrays;"
          + " with --format, a load of files of that format with a read by its library alone, in"
          + " as many tasks, and with such a read whose arrays are copied to shared memory.",
      "A load is timed on the ranks, from the first row to the last byte, as is the read by the"
          + " library; a scan is timed on the driver."
    })
final class IngestBench extends Bench {
  private static final int RANKS = 2;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Number of rows; ${DEFAULT-VALUE} by default.")
  private long rows = 1_000_000;

  @Option(
      names = "--floats",
      paramLabel = "N",
      description = "Floats per row; ${DEFAULT-VALUE} by default.")
  private int floats = 64;

  @Option(
      names = "--format",
      paramLabel = "npy|h5ad|zarr|images",
      description =
          "Format of the files; Parquet by default. Images have three bytes per pixel and about as"
              + " many bytes as the floats.")
  private SampleFiles format;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measured rounds after one warm-up round; ${DEFAULT-VALUE} by default.")
  private int rounds = 5;

  @Mixin private ClusterOptions cluster;

  /**
   * One round.
   *
   * @param scanSeconds duration of the plain scan, or of the read by the library
   * @param copySeconds duration of that read and of a copy of the arrays to shared memory; null for
   *     Parquet
   * @param loadSeconds duration of the load on the slowest rank
   * @param jobSeconds duration of the whole job: plan, start of the ranks, load and shutdown
   */
  record Round(double scanSeconds, Double copySeconds, double loadSeconds, double jobSeconds) {}

  @Override
  public Integer call() throws IOException {
    OptionRange.check(command, "--rows", rows, 1, Long.MAX_VALUE);
    OptionRange.check(command, "--floats", floats, 1, 1 << 20);
    OptionRange.check(command, "--rounds", rounds, 1, 1000);
    List<Round> measured = new ArrayList<>();
    try (EmbeddedSpark spark = cluster.open(RANKS, Map.of());
        Progress progress = progress(rounds + 1)) {
      Run run =
          format == null ? Run.write(spark, rows, floats) : Run.write(spark, format, rows, floats);
      int ranks = cluster.ranks(RANKS);
      for (int round = 0; round <= rounds; round++) {
        Round result = run.measure(cluster, ranks);
        if (round > 0) {
          measured.add(result);
        }
        progress.stepTo(round + 1);
      }
    }
    return report(measured);
  }

  private int report(List<Round> measured) {
    double scan = rows / median(measured, Round::scanSeconds);
    double load = rows / median(measured, Round::loadSeconds);
    String copied = format == null ? "" : "with copy s, ";
    table(
        "round, " + baseline() + " s, " + copied + "load s, whole job s",
        measured,
        round -> cells(measured, round));
    line(
        "%,d rows of %s: %,.0f rows/s loaded, %,.0f rows/s by the %s (medians), ratio %.2f",
        rows, ByteSize.format((long) floats * Float.BYTES), load, scan, baseline(), load / scan);
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("rows", rows);
    summary.put("floats", floats);
    summary.put("ingestRowsPerSecond", Math.round(load));
    summary.put(
        format == null ? "bareScanRowsPerSecond" : "libraryRowsPerSecond", Math.round(scan));
    summary.put(format == null ? "ratioToBareScan" : "ratioToLibrary", load / scan);
    if (format != null) {
      double copy = rows / median(measured, Round::copySeconds);
      line(
          "%,.0f rows/s by the library with a copy of its arrays to shared memory, ratio %.2f",
          copy, load / copy);
      summary.put("libraryAndCopyRowsPerSecond", Math.round(copy));
      summary.put("ratioToLibraryAndCopy", load / copy);
    }
    String subject =
        "%,d rows of %d floats, %s".formatted(rows, floats, format == null ? "Parquet" : format);
    double[] scans = measured.stream().mapToDouble(Round::scanSeconds).toArray();
    double[] loads = measured.stream().mapToDouble(Round::loadSeconds).toArray();
    figure(Figure.of("ingest", subject, Figure.DDSTORE, "s", loads).to("scan", scans));
    figure(Figure.of("ingest", subject, "scan", "s", scans).asLimit());
    return finish(0, measured, summary);
  }

  private List<Object> cells(List<Round> measured, Round round) {
    List<Object> line = new ArrayList<>();
    line.add(measured.indexOf(round) + 1);
    line.add(fixed(2, round.scanSeconds));
    if (format != null) {
      line.add(fixed(2, round.copySeconds));
    }
    line.add(fixed(2, round.loadSeconds));
    line.add(fixed(2, round.jobSeconds));
    return line;
  }

  private String baseline() {
    return format == null ? "bare scan" : "library";
  }

  private static double median(List<Round> measured, ToDoubleFunction<Round> seconds) {
    return median(measured.stream().mapToDouble(seconds).toArray());
  }

  /**
   * The rows to load, and the reads and loads of a round.
   *
   * @param frame the rows to load
   * @param format format of the files; null for Parquet
   * @param files paths of the files and folders that a library reads; empty for Parquet
   */
  private record Run(Dataset<Row> frame, SampleFiles format, List<String> files) {
    private static final int FILES = 8;

    /** Writes the Parquet files to scan and load: rows with one array of floats each. */
    static Run write(EmbeddedSpark spark, long rows, int floats) throws IOException {
      String path = spark.scratch("ingest").resolve("rows.parquet").toUri().toString();
      spark
          .session()
          .range(rows)
          .selectExpr("transform(sequence(1, %d), i -> float(id + i)) as x".formatted(floats))
          .write()
          .parquet(path);
      return new Run(spark.session().read().parquet(path), null, List.of());
    }

    static Run write(EmbeddedSpark spark, SampleFiles format, long rows, int floats)
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
      return new Run(frame, format, files);
    }

    /** Measures a read without DDStore, then a load. */
    Round measure(ClusterOptions cluster, int ranks) {
      double scanSeconds = format == null ? scan() : library(ranks, false);
      Double copySeconds = format == null ? null : library(ranks, true);
      long jobStart = System.nanoTime();
      List<Long> loads = cluster.on(DDStores.from(frame)).run(rank -> rank.loadNanos());
      double jobSeconds = seconds(System.nanoTime() - jobStart);
      long slowest = loads.stream().mapToLong(Long::longValue).max().orElseThrow();
      return new Round(scanSeconds, copySeconds, seconds(slowest), jobSeconds);
    }

    private double scan() {
      long start = System.nanoTime();
      PartitionJob.of(frame.queryExecution().toRdd(), Run::arrays).run();
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
}
