// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Callable;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Output;
import org.ddstore.local.Progress;
import org.ddstore.spark.Explanation;
import org.ddstore.spark.StoreSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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

  @Mixin private InputPath path;
  @Mixin private SourceOptions source;
  @Mixin private TransportOptions transport;
  @Mixin private DemoCommand.BackingOption backing;
  @Mixin private ClusterOptions cluster;
  @Mixin private Output output;

  @Override
  public Integer call() throws IOException {
    transport.check();
    String input = path.required();
    Explanation explanation;
    try (Progress progress = Progress.ofSpark("explain");
        EmbeddedSpark spark = cluster.open(RANKS, Map.of())) {
      progress.describe("plan the load");
      StoreSpec spec = Source.spec(InputFormat.read(spark.session(), input, path.options), source);
      explanation = cluster.on(transport.on(backing.on(spec, spark))).explain();
    }
    new ExplainReport(explanation).print(input, output);
    output.finish(0, ExplainReport.results(explanation), ExplainReport.summary(explanation));
    return 0;
  }
}
