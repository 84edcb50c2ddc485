// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import org.ddstore.benchmarks.scan.ScanBench;
import org.ddstore.cli.CommandExtension;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command that measures whole jobs; single calls are measured by JMH benchmarks. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures whole jobs, each against a baseline in the same run.",
    subcommands = {
      CheckpointBench.class,
      DeviceBench.class,
      EpochBench.class,
      IngestBench.class,
      PythonBench.class,
      ReadBench.class,
      ScaleBench.class,
      ScanBench.class
    })
public final class BenchCommand implements CommandExtension {
  @Spec private CommandSpec command;

  @Override
  public void run() {
    throw new ParameterException(
        command.commandLine(),
        "missing benchmark: use checkpoint, device, epoch, ingest, python, read, scale or scan");
  }
}
