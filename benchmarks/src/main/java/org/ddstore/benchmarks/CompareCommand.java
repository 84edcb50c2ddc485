// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.report.Comparison;
import org.ddstore.benchmarks.report.Comparison.Change;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that compares two reports. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    description = {
      "Shows which figures of two files report.json differ by more than the noise: ratios to what"
          + " was measured in the same run, and plain times where a figure has no ratio.",
      "A figure has changed if its median differs by at least --change, and if the Mann-Whitney U"
          + " test rejects with p < 0.01 that its rounds are alike; one of a hundred figures passes"
          + " that by chance. The rounds of a run also share the state of the machine: before you"
          + " believe a change, run again."
    })
final class CompareCommand extends Bench {
  @Parameters(paramLabel = "OLD", description = "The report.json of before.")
  private Path old;

  @Parameters(paramLabel = "NEW", description = "The report.json of after.")
  private Path recent;

  @Option(
      names = "--change",
      paramLabel = "SHARE",
      description = "Smallest change that counts; ${DEFAULT-VALUE} by default.")
  private double smallest = 0.1;

  @Override
  public Integer call() throws IOException {
    if (!(smallest >= 0 && smallest < 10)) { // also if it is not a number
      throw usage("--change: %s outside [0, 10)".formatted(smallest));
    }
    Comparison comparison = Comparison.of(old, recent, smallest);
    List<Change> changes = comparison.changes();
    table("figure, old, new, change, p", changes, CompareCommand::cells);
    line(
        "%d of %d figures changed; %d have too few rounds to tell; %d are in the old report only,"
            + " %d in the new one only",
        changes.size(),
        comparison.compared(),
        comparison.undecided().size(),
        comparison.onlyOld().size(),
        comparison.onlyNew().size());
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("compared", comparison.compared());
    summary.put("undecided", comparison.undecided());
    summary.put("onlyOld", comparison.onlyOld());
    summary.put("onlyNew", comparison.onlyNew());
    return finish(0, changes, summary);
  }

  private static List<Object> cells(Change change) {
    return Arrays.asList(
        change.figure(),
        decimal(change.oldMedian()),
        decimal(change.newMedian()),
        "%+.0f %%".formatted(100 * change.change()),
        "%.1e".formatted(change.probability()));
  }
}
