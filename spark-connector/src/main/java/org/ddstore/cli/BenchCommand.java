package org.ddstore.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command that measures whole jobs; single calls are measured by JMH benchmarks. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures whole jobs, each against a baseline in the same run.",
    subcommands = {EpochBench.class, IngestBench.class, ReadBench.class, ScanBench.class})
final class BenchCommand implements Runnable {
  @Spec private CommandSpec command;

  @Override
  public void run() {
    throw new ParameterException(
        command.commandLine(), "missing benchmark: use epoch, ingest, read or scan");
  }
}
