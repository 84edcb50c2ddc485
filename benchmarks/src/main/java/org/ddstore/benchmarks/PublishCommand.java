// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.report.Publication;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that brings a report into the documentation. */
@Command(
    name = "publish",
    hidden = true,
    mixinStandardHelpOptions = true,
    description =
        "Copies a report into the documentation, and makes the tables of performance.md and the"
            + " chart of the README from it.")
final class PublishCommand extends Bench {
  @Parameters(paramLabel = "REPORT", description = "The report.json, beside its report.html.")
  private Path report;

  @Option(
      names = "--docs",
      paramLabel = "DIR",
      description = "Folder of the pages; ${DEFAULT-VALUE} by default.")
  private Path docs = Path.of("docs");

  @Option(
      names = "--chart",
      paramLabel = "SECTION",
      description = "Section of the chart; ${DEFAULT-VALUE} by default.")
  private String section = "peers/epoch";

  @Override
  public Integer call() throws IOException {
    Publication.write(report, docs, section);
    line("published in %s", docs);
    return 0;
  }
}
