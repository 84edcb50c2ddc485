// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.peers.PeersBench;
import org.ddstore.benchmarks.report.Report;
import org.ddstore.benchmarks.scan.ScanBench;
import org.ddstore.cli.CommandExtension;
import org.ddstore.local.Progress;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that runs all benchmarks for a report; single calls are measured by JMH. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = {
      "Measures everything and writes report.html and report.json: each figure is beside something"
          + " else that was measured in the same run.",
      "A command below measures one thing, with more options."
    },
    subcommands = {
      CheckpointBench.class,
      CompareCommand.class,
      DeviceBench.class,
      DlioBench.class,
      EpochBench.class,
      IngestBench.class,
      PeersBench.class,
      PublishCommand.class,
      ReadBench.class,
      RecoverBench.class,
      ScaleBench.class,
      ScanBench.class
    })
public final class BenchCommand extends Bench implements CommandExtension {
  @Option(names = "--quick", description = "Measure less, in about 10 minutes on two processors.")
  private boolean isQuick;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Directory of report.html and report.json; the current one by default.")
  private Path directory = Path.of("");

  @Option(
      names = "--only",
      paramLabel = "PART",
      split = ",",
      description = "Parts to measure, such as read-memory or peers; all by default.")
  private List<String> only = List.of();

  @Option(
      names = "--peer",
      paramLabel = "NAME=COMMAND",
      description = "Another program to measure beside the peers; see bench peers.")
  private List<String> foreign = List.of();

  @Option(
      names = "--install-peers",
      description = "Install the peers in the user's cache folder, and do nothing else.")
  private boolean isInstall;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (isInstall) {
      int peers = command.subcommands().get(ReportPart.PEERS).execute("--install-peers");
      return Math.max(peers, command.subcommands().get("dlio").execute("--install"));
    }
    List<ReportPart> parts = parts();
    Files.createDirectories(directory.toAbsolutePath());
    Report report = new Report(isQuick ? "quick" : "thorough", output.machine());
    long all = ReportPart.seconds(parts);
    try (Progress progress = Progress.open("bench", all)) {
      long done = 0;
      for (ReportPart part : parts) {
        String left = "about %,d s left".formatted(all - done);
        progress.describe(part.name() + ", " + left);
        note("%s: %s; %s".formatted(part.name(), part.title(), left));
        part.run(report);
        done += part.expectedSeconds();
        progress.stepTo(done);
      }
    }
    Path json = directory.resolve("report.json");
    Path html = directory.resolve("report.html");
    Files.writeString(json, report.json());
    Files.writeString(html, report.html());
    report.summary().forEach(text -> line("%s", text));
    line("report: %s and %s", html.toAbsolutePath(), json.toAbsolutePath());
    output.finish(report.mismatches(), List.of(), report.content());
    return report.mismatches() == 0 && report.failures().isEmpty() ? 0 : 1;
  }

  /** Prints progress for a log; a terminal shows a bar. */
  private void note(String text) {
    if (!Progress.isTerminal()) {
      command.commandLine().getErr().println(text);
    }
  }

  private List<ReportPart> parts() throws IOException {
    List<ReportPart> all = ReportPart.all(isQuick, foreign);
    List<String> names = all.stream().map(ReportPart::name).toList();
    for (String name : only) {
      if (!names.contains(name)) {
        throw usage(
            "--only %s: unknown part; legal values: %s".formatted(name, String.join(", ", names)));
      }
    }
    return all.stream().filter(part -> only.isEmpty() || only.contains(part.name())).toList();
  }
}
