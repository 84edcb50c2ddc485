package org.ddstore.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measurements of whole jobs; those of single calls are JMH benchmarks. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures whole jobs, each beside a yardstick in the same run.",
    subcommands = {EpochBench.class, IngestBench.class, ReadBench.class, ScanBench.class})
final class BenchCommand implements Runnable {
  @Spec private CommandSpec command;

  @Override
  public void run() {
    throw new ParameterException(
        command.commandLine(), "say what to measure: epoch, ingest, read or scan");
  }
}
