// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Output;
import org.ddstore.local.Progress;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.Explanation;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.cluster.HostProbe;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command that demonstrates a store and checks every byte that it returns. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Loads the rows of files into the memory of several executors, reads them from every rank by"
          + " global index, singly and in batches, and compares every byte with the result of"
          + " Spark SQL for the same rows.",
      "Exits with 0 if all bytes are equal."
    })
final class DemoCommand implements Callable<Integer> {
  private static final int RANKS = 4;

  /** Version 1 of file sources, because version 2 does not report the file of each row. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "spark.sql.datetime.java8API.enabled",
          "true",
          "spark.sql.sources.useV1SourceList",
          InputFormat.V1_SOURCES);

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Number of rows to write if --input is not given; ${DEFAULT-VALUE} by default.")
  private long rows = 200_000;

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Rows per batch; ${DEFAULT-VALUE} by default.")
  private int batchRows = 1024;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of the data and of the read order; ${DEFAULT-VALUE} by default.")
  private long seed = 42;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Total duration of all timed reads in seconds; ${DEFAULT-VALUE} by default.")
  private double seconds = 3;

  @Mixin private InputPath path;
  @Mixin private SourceOptions source;
  @Mixin private TransportOptions transport;
  @Mixin private BackingOption backing;
  @Mixin private ClusterOptions cluster;
  @Mixin private Output output;

  @Spec private CommandSpec command;

  @Override
  public Integer call() throws IOException {
    OptionRange.check(command, "--rows", rows, 1, Long.MAX_VALUE);
    OptionRange.check(command, "--batch", batchRows, 1, Integer.MAX_VALUE);
    OptionRange.checkSeconds(command, seconds);
    transport.check();
    String input = path.orNull();
    if (input == null && backing.isSharedMemory() && !EmbeddedSpark.isSubmitted()) {
      checkSharedMemory(HostProbe.read(ProcessDirectory.SHARED_MEMORY));
    }
    DemoReport report = new DemoReport(output);
    DemoResult result;
    try (Progress progress = Progress.ofSpark("demo")) {
      progress.describe("start Spark");
      try (EmbeddedSpark spark = cluster.open(RANKS, SETTINGS)) {
        result = run(spark, input, report, progress);
      }
    }
    report.print(result, input);
    output.finish(result.mismatches(), result.results(), result.summary());
    return result.exitCode();
  }

  /** Refuses rows that do not fit, before they are written and queried. */
  private void checkSharedMemory(HostFacts host) {
    Long free = host.sharedMemoryFreeBytes();
    long fitting = free == null ? rows : free / DemoData.BYTES_PER_ROW;
    if (rows > fitting) {
      throw new DDStoreException(
          "--rows %,d: the rows need %s, and %s has %s free: at most --rows %d, or --backing file"
              .formatted(
                  rows,
                  ByteSize.format((long) ((double) rows * DemoData.BYTES_PER_ROW)),
                  host.sharedMemoryPath(),
                  ByteSize.format(free),
                  fitting));
    }
  }

  private DemoResult run(EmbeddedSpark spark, String input, DemoReport report, Progress progress)
      throws IOException {
    progress.describe(input == null ? "write Parquet" : "inspect the data");
    String files = input == null ? write(spark, report) : input;
    progress.describe("query Spark SQL");
    Dataset<Row> frame =
        input == null
            ? spark.session().read().parquet(files)
            : InputFormat.read(spark.session(), files, path.options);
    List<Leaf> leaves = Leaf.of(frame.schema(), source);
    StoreSpec spec = cluster.on(transport.on(backing.on(Source.spec(frame, source), spark)));
    if (input != null) {
      // Rejects what cannot be loaded before Spark SQL reads all rows.
      Explanation explanation = spec.explain();
      explanation.warnings().forEach(report::addWarning);
      if (!explanation.problems().isEmpty()) {
        throw new PreflightException("cannot load " + input + ":", explanation.problems());
      }
    }
    long start = System.nanoTime();
    ExpectedRows expected = RowOracle.query(frame, leaves, source.orderBy, seed);
    report.addQuery(expected, System.nanoTime() - start);
    progress.describe("load and read");
    return DemoTask.run(spec, expected, leaves, batchRows, seed, (long) (seconds * 1e9));
  }

  private String write(EmbeddedSpark spark, DemoReport report) throws IOException {
    Path directory = spark.scratch("demo").resolve("rows.parquet");
    long start = System.nanoTime();
    DemoData.write(spark.session(), directory, rows, seed);
    DemoData.TYPES.forEach(source::addType);
    report.addFiles(directory, rows, System.nanoTime() - start);
    return directory.toUri().toString();
  }

  /** The option for the memory of the shards, also of {@link ExplainCommand}, as a mixin. */
  static final class BackingOption {
    @Option(
        names = "--backing",
        paramLabel = "shm|file|direct",
        description = {
          "Memory that holds the shards: ${COMPLETION-CANDIDATES}; by default that of"
              + " spark.ddstore.backing, shm.",
          "Files are in a temporary directory."
        })
    private Backing backing;

    /** Returns whether rows are in /dev/shm, by default or by the user's choice. */
    boolean isSharedMemory() {
      return backing == null || backing == Backing.SHM;
    }

    StoreSpec on(StoreSpec spec, EmbeddedSpark spark) throws IOException {
      if (backing == null) {
        return spec;
      }
      return backing == Backing.FILE
          ? spec.files(spark.scratch("segments"))
          : spec.backing(backing);
    }
  }
}
