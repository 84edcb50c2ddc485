// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.util.List;
import org.ddstore.cli.DemoData;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Interruption;
import picocli.CommandLine;

/** The command {@code ./ddstore example train}: runs {@link Train} on local executors. */
public final class TrainCommand {
  private static final int ROWS = 10_000;
  private static final int MIN_ROWS = 128;

  private TrainCommand() {}

  /** Exits with 0 if the training is sound, 1 if not, 2 if an argument is illegal. */
  public static void main(String[] arguments) {
    Interruption.exitAfter(() -> command().execute(arguments));
  }

  static CommandLine command() {
    String description =
        "Trains a small network (784-64-10) on the demo's images with DJL and PyTorch,"
            + " data-parallel on two executors: batches are read from the loader without a copy,"
            + " gradients are summed over the ranks.";
    return TrainingCommand.parser("train", description, ROWS, MIN_ROWS, TrainCommand::train);
  }

  private static List<Trained> train(
      EmbeddedSpark spark, long rows, int epochs, EpochLines.Reporter lines) throws IOException {
    return Train.train(DemoData.images(spark, rows), epochs, lines);
  }
}
