package org.ddstore.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.StoreSpec;
import org.ddstore.types.Backing;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows a store at work, and checks every byte that it gives. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Loads Parquet rows into the memory of several executors, reads them from every rank by"
          + " global index, singly and in batches, and compares every byte with what Spark SQL says"
          + " of the same rows.",
      "Exits with 0 if all are equal."
    })
final class DemoCommand implements Callable<Integer> {
  private static final int RANKS = 4;
  private static final int STEPS = 3;

  /** Spark SQL is asked for the place of each row, which its second version of files cannot say. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "spark.sql.datetime.java8API.enabled", "true",
          "spark.sql.sources.useV1SourceList", "parquet");

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Rows to write, without --input; ${DEFAULT-VALUE} unless said.")
  private long rows = 200_000;

  @Option(
      names = "--input",
      paramLabel = "PATH",
      description = "A Parquet file or directory of your own; else one is written and deleted.")
  private String input;

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Rows of a batch; ${DEFAULT-VALUE} unless said.")
  private int batchRows = 1024;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Of the data and of the order of reads; ${DEFAULT-VALUE} unless said.")
  private long seed = 42;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description =
          "Time of the reads against the clock, of all ranks together; ${DEFAULT-VALUE} by"
              + " default.")
  private double seconds = 3;

  @Option(
      names = "--backing",
      paramLabel = "shm|file|direct",
      description = "Where shards lie: ${COMPLETION-CANDIDATES}; shm unless said.")
  private Backing backing = Backing.SHM;

  @Mixin private SourceOptions source;
  @Mixin private TransportOptions transport;
  @Mixin private ClusterOptions cluster;
  @Mixin private Output output;

  @Spec private CommandSpec command;

  @Override
  public Integer call() throws IOException {
    OptionRange.check(command, "--rows", rows, 1, Long.MAX_VALUE);
    OptionRange.check(command, "--batch", batchRows, 1, Integer.MAX_VALUE);
    if (!(seconds > 0 && seconds <= 3600)) {
      throw new ParameterException(
          command.commandLine(), "--seconds: %s outside (0, 3600]".formatted(seconds));
    }
    transport.check();
    if (input != null) {
      SourceOptions.checkExists(input);
    }
    DemoReport report = new DemoReport(output);
    DemoResult result;
    try (EmbeddedSpark spark = cluster.open(RANKS, SETTINGS)) {
      result = run(spark, report);
    }
    report.print(result, input);
    output.finish(result.mismatches(), result.results(), result.summary());
    return result.exitCode();
  }

  private DemoResult run(EmbeddedSpark spark, DemoReport report) throws IOException {
    try (Progress progress = Progress.open("demo", STEPS)) {
      progress.describe(input == null ? "write Parquet" : "look at the data");
      String path = input == null ? write(spark, report) : input;
      progress.stepTo(1);
      progress.describe("ask Spark SQL");
      Dataset<Row> files = Source.read(spark.session(), path);
      List<Leaf> leaves = Leaf.of(files.schema(), source.fields(), source.types());
      DemoRun run =
          new DemoRun(
              files,
              leaves,
              source.orderBy(),
              cluster.on(transport.on(backed(spark, Source.spec(files, source)))));
      if (input != null) {
        // Refuses what cannot be loaded before Spark SQL has read all of it.
        run.spec().explain().warnings().forEach(report::warn);
      }
      long start = System.nanoTime();
      ExpectedRows expected = run.ask(seed);
      report.asked(expected, System.nanoTime() - start);
      progress.stepTo(2);
      progress.describe("load and read");
      DemoResult result = run.read(expected, batchRows, seed, (long) (seconds * 1e9));
      progress.stepTo(STEPS);
      return result;
    }
  }

  private String write(EmbeddedSpark spark, DemoReport report) throws IOException {
    Path directory = spark.scratch("demo").resolve("rows.parquet");
    long start = System.nanoTime();
    DemoData.write(spark.session(), directory, rows, seed);
    DemoData.TYPES.forEach(source::addType);
    report.wrote(directory, rows, System.nanoTime() - start);
    return directory.toUri().toString();
  }

  private StoreSpec backed(EmbeddedSpark spark, StoreSpec spec) throws IOException {
    return switch (backing) {
      case SHM -> spec;
      case FILE -> spec.files(spark.scratch("segments"));
      case DIRECT -> spec.backing(Backing.DIRECT);
    };
  }
}
