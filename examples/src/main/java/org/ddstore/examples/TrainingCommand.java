// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Output;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command line of an example that trains on generated rows: its options and its report. */
@Command
final class TrainingCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int MAX_EPOCHS = 10_000;
  private static final int EXECUTOR_MB = 1024;

  /** A training on all ranks. */
  interface Training {
    /** Generates rows and trains on them; returns the result of each rank. Blocks. */
    List<Trained> train(EmbeddedSpark spark, long rows, int epochs, EpochLines.Reporter lines)
        throws IOException;
  }

  private final String name;
  private final int minRows;
  private final Training training;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Number of rows to generate; ${DEFAULT-VALUE} by default.")
  private long rows;

  @Option(
      names = "--epochs",
      paramLabel = "N",
      description = "Number of passes over the rows; ${DEFAULT-VALUE} by default.")
  private int epochs = 5;

  @Mixin private final Output output = new Output();
  @Spec private CommandSpec command;

  private TrainingCommand(String name, int rows, int minRows, Training training) {
    this.name = name;
    this.rows = rows;
    this.minRows = minRows;
    this.training = training;
  }

  /**
   * Returns the parser of a command.
   *
   * @param name name of the example
   * @param description what it trains, one sentence
   * @param rows default number of rows
   * @param minRows minimum number of rows
   */
  static CommandLine parser(
      String name, String description, int rows, int minRows, Training training) {
    CommandLine line = ExampleArguments.parser(new TrainingCommand(name, rows, minRows, training));
    line.setCommandName("ddstore example " + name);
    line.getCommandSpec()
        .usageMessage()
        .description(
            description,
            "Exits with 0 if the loss of the last epoch is below that of the first, all ranks have"
                + " the same final parameters, and each receipt shows that every row was delivered"
                + " exactly once. The first run downloads PyTorch (110 MB; Linux on x86_64 only).");
    return line;
  }

  @Override
  public Integer call() throws IOException {
    ExampleArguments.checkRange(command, "--rows", rows, minRows, Integer.MAX_VALUE);
    ExampleArguments.checkRange(command, "--epochs", epochs, 1, MAX_EPOCHS);
    if (ExampleArguments.isCheckOnly()) {
      return 0;
    }
    TrainReport report;
    try (EmbeddedSpark spark =
            EmbeddedSpark.open(
                "ddstore example " + name, Train.RANKS, 1, EXECUTOR_MB, EpochLines.settings());
        EpochLines lines = new EpochLines(spark.session().sparkContext(), output::line)) {
      report = new TrainReport(name, training.train(spark, rows, epochs, lines.reporter()));
    }
    System.out.println(output.isJson() ? report.toJson() : report.toText());
    return report.isSound() ? 0 : FAILED;
  }
}
