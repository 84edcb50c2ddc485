// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options of {@link Readme}. */
final class ReadmeOptions {
  private static final int MAX_NUMBERS = 1 << 27; // per shard: 1 GiB
  private static final int MAX_BATCHES = 1_000_000;

  @Option(
      names = "--num",
      paramLabel = "N",
      description = "Number of rows per rank; ${DEFAULT-VALUE} by default.")
  private int num = 65_536;

  @Option(
      names = "--dim",
      paramLabel = "N",
      description = "Number of float64 values per row; ${DEFAULT-VALUE} by default.")
  private int dim = 64;

  @Option(
      names = "--nbatch",
      paramLabel = "N",
      description =
          "Number of batches of 64 rows that each rank reads; ${DEFAULT-VALUE} by default.")
  private int nbatch = 32;

  @Option(names = "--no-shortcut", description = "Read rows of the same host by MPI as well.")
  private boolean hasNoShortcut;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Returns the number of rows per rank. */
  int num() {
    return num;
  }

  /** Returns the number of values per row. */
  int dim() {
    return dim;
  }

  /** Returns the number of batches that each rank reads. */
  int nbatch() {
    return nbatch;
  }

  /** Returns whether rows of the same host are read from its memory. */
  boolean hasShortcut() {
    return !hasNoShortcut;
  }

  /**
   * Checks the values of all options.
   *
   * @throws ParameterException naming the option, its value and its range
   */
  void checkRanges() {
    ExampleArguments.checkRange(command, "--num", num, 1, MAX_NUMBERS);
    ExampleArguments.checkRange(command, "--dim", dim, 1, MAX_NUMBERS);
    ExampleArguments.checkRange(command, "--nbatch", nbatch, 0, MAX_BATCHES);
    if ((long) num * dim > MAX_NUMBERS) {
      throw new ParameterException(
          command.commandLine(),
          "--num %d times --dim %d exceeds %d values per rank: lower one of them"
              .formatted(num, dim, MAX_NUMBERS));
    }
  }
}
