// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import org.ddstore.spark.Explanation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that describes a load without running it. */
@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    description = {
      "Describes a load without running it: rows and bytes of each rank and executor, the memory"
          + " needed and available, and how each pair of ranks would read, with the reason.",
      "Starts the ranks but loads no rows."
    })
final class ExplainCommand implements Callable<Integer> {
  private static final int RANKS = 4;

  @Option(
      names = "--input",
      paramLabel = "PATH",
      required = true,
      description = "File, directory or pattern, see --format.")
  private String input;

  @Mixin private InputOptions inputOptions;
  @Mixin private SourceOptions source;
  @Mixin private TransportOptions transport;
  @Mixin private ClusterOptions cluster;
  @Mixin private Output output;

  @Override
  public Integer call() {
    transport.check();
    InputOptions.checkExists(input);
    Explanation explanation;
    try (Progress progress = Progress.open("explain", 2);
        EmbeddedSpark spark = cluster.open(RANKS, Map.of())) {
      progress.stepTo(1);
      explanation =
          cluster
              .on(
                  transport.on(
                      Source.spec(InputFormat.read(spark.session(), input, inputOptions), source)))
              .explain();
    }
    new ExplainReport(explanation).print(input, output);
    output.finish(0, ExplainReport.results(explanation), ExplainReport.summary(explanation));
    return 0;
  }
}
