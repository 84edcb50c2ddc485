package org.ddstore.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import org.ddstore.spark.Explanation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Says what a load would do, before it is done. */
@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    description = {
      "Says what a load would do: rows and bytes of each rank and executor, the memory needed and"
          + " the memory there is, how each pair of ranks would read, and why.",
      "Starts the ranks, and loads nothing."
    })
final class ExplainCommand implements Callable<Integer> {
  private static final int RANKS = 4;

  @Option(
      names = "--input",
      paramLabel = "PATH",
      required = true,
      description = "A Parquet file or directory.")
  private String input;

  @Mixin private SourceOptions source;
  @Mixin private TransportOptions transport;
  @Mixin private ClusterOptions cluster;
  @Mixin private Output output;

  @Override
  public Integer call() {
    transport.check();
    SourceOptions.checkExists(input);
    Explanation explanation;
    try (Progress progress = Progress.open("explain", 2);
        EmbeddedSpark spark = cluster.open(RANKS, Map.of())) {
      progress.stepTo(1);
      explanation =
          cluster
              .on(transport.on(Source.spec(Source.read(spark.session(), input), source)))
              .explain();
    }
    new ExplainReport(explanation).print(input, output);
    output.finish(0, ExplainReport.results(explanation), ExplainReport.summary(explanation));
    return 0;
  }
}
