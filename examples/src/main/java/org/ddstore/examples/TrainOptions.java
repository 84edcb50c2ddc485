package org.ddstore.examples;

import java.util.List;
import java.util.Optional;

/**
 * What {@link Train} was asked for.
 *
 * @param rows images to write and train on, at least {@value #MIN_ROWS}
 * @param epochs of [1, {@value #MAX_EPOCHS}]
 * @param isJson to print one JSON object and nothing else
 */
record TrainOptions(long rows, int epochs, boolean isJson) {
  static final String USAGE =
      """
      Usage: ddstore example train [--rows N] [--epochs N] [--json]
      Trains a small network (784-64-10) on the demo's images with DJL and PyTorch, data-parallel on
      two executors: batches come from the loader without a copy, gradients are summed over the ranks.
      Exits with 0 if the loss fell, all ranks ended with the same parameters, and each epoch gave
      every row exactly once. The first run fetches PyTorch (110 MB; Linux on x86_64 only).
            --rows N     Images to write and train on; 10000 unless said.
            --epochs N   Passes over them; 5 unless said.
            --json       Print one JSON object as the last line, instead of a table.
        -h, --help       Show this help message and exit.
      """;

  private static final int MIN_ROWS = 128;
  private static final int MAX_EPOCHS = 10_000;

  /**
   * Empty if help is asked for.
   *
   * @throws IllegalArgumentException naming the argument that is wrong
   */
  static Optional<TrainOptions> parse(List<String> arguments) {
    TrainOptions wanted = new TrainOptions(10_000, 5, false);
    for (int i = 0; i < arguments.size(); i++) {
      String name = arguments.get(i);
      switch (name) {
        case "-h", "--help" -> {
          return Optional.empty();
        }
        case "--json" -> wanted = new TrainOptions(wanted.rows, wanted.epochs, true);
        case "--rows" -> {
          long rows = Arguments.number(name, arguments, ++i, MIN_ROWS, Integer.MAX_VALUE);
          wanted = new TrainOptions(rows, wanted.epochs, wanted.isJson);
        }
        case "--epochs" -> {
          int epochs = (int) Arguments.number(name, arguments, ++i, 1, MAX_EPOCHS);
          wanted = new TrainOptions(wanted.rows, epochs, wanted.isJson);
        }
        default -> throw new IllegalArgumentException("Unknown option: '" + name + "'");
      }
    }
    return Optional.of(wanted);
  }
}
