// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.ddstore.cli.ExampleCluster;
import org.ddstore.local.Output;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code ./ddstore example train}: runs {@link Train} on local executors. */
@Command(
    name = "ddstore example train",
    description = {
      "Trains a small network (784-64-10) on the demo's images with DJL and PyTorch,"
          + " data-parallel on two executors: batches are read from the loader without a copy,"
          + " gradients are summed over the ranks.",
      "Exits with 0 if the loss of the last epoch is below that of the first, all ranks have the"
          + " same final parameters, and each epoch delivered every row exactly once. The first run"
          + " downloads PyTorch (110 MB; Linux on x86_64 only)."
    })
public final class TrainCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int MIN_ROWS = 128;
  private static final int MAX_EPOCHS = 10_000;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Number of images to write and train on; ${DEFAULT-VALUE} by default.")
  private long rows = 10_000;

  @Option(
      names = "--epochs",
      paramLabel = "N",
      description = "Number of passes over the images; ${DEFAULT-VALUE} by default.")
  private int epochs = 5;

  @Mixin private final Output output = new Output();
  @Spec private CommandSpec command;

  /** Exits with 0 if the training is sound, 1 if not, 2 if an argument is illegal. */
  public static void main(String[] arguments) {
    System.exit(ExampleArguments.parser(new TrainCommand()).execute(arguments));
  }

  long rows() {
    return rows;
  }

  int epochs() {
    return epochs;
  }

  boolean isJson() {
    return output.isJson();
  }

  void checkRanges() {
    ExampleArguments.checkRange(command, "--rows", rows, MIN_ROWS, Integer.MAX_VALUE);
    ExampleArguments.checkRange(command, "--epochs", epochs, 1, MAX_EPOCHS);
  }

  @Override
  public Integer call() throws IOException {
    checkRanges();
    if (ExampleArguments.isCheckOnly()) {
      return 0;
    }
    TrainReport report;
    try (ExampleCluster cluster = ExampleCluster.start("train", Train.RANKS)) {
      report = new TrainReport("train", Train.train(cluster.images(rows), epochs));
    }
    System.out.println(output.isJson() ? report.toJson() : report.toText());
    return report.isSound() ? 0 : FAILED;
  }
}
