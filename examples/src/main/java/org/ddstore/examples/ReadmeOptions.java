package org.ddstore.examples;

import java.util.List;
import java.util.Optional;

/**
 * What {@link Readme} was asked for.
 *
 * @param num rows of each rank, of [1, {@value #MAX_NUMBERS}]
 * @param dim numbers of a row, of the same range; {@code num * dim} at most {@value #MAX_NUMBERS}
 * @param nbatch batches that each rank reads, of [0, {@value #MAX_BATCHES}]
 * @param hasShortcut whether rows of the same host are read by memory
 */
record ReadmeOptions(int num, int dim, int nbatch, boolean hasShortcut) {
  static final String USAGE =
      """
      Usage: ddstore example readme [--ranks N] [--num N] [--dim N] [--nbatch N] [--no-shortcut]
      Ranks under mpirun, without Spark: each adds a shard of float64 rows, then reads random rows of
      all shards by their global index and compares every number with what it should be.
      Exits with 0 if all were right.
            --ranks N       Processes for mpirun to start; 4 unless said. To ./ddstore only.
            --num N         Rows of each rank; 65536 unless said.
            --dim N         Numbers of a row; 64 unless said.
            --nbatch N      Batches of 64 rows that each rank reads; 32 unless said.
            --no-shortcut   Read also the rows of the same host by MPI.
        -h, --help          Show this help message and exit.
      """;

  private static final int MAX_NUMBERS = 1 << 27; // of a shard: 1 GiB
  private static final int MAX_BATCHES = 1_000_000;

  /**
   * Empty if help is asked for.
   *
   * @throws IllegalArgumentException naming the argument that is wrong
   */
  static Optional<ReadmeOptions> parse(List<String> arguments) {
    ReadmeOptions wanted = new ReadmeOptions(65_536, 64, 32, true);
    for (int i = 0; i < arguments.size(); i++) {
      String name = arguments.get(i);
      switch (name) {
        case "-h", "--help" -> {
          return Optional.empty();
        }
        case "--no-shortcut" ->
            wanted = new ReadmeOptions(wanted.num, wanted.dim, wanted.nbatch, false);
        case "--num" -> {
          int num = (int) Arguments.number(name, arguments, ++i, 1, MAX_NUMBERS);
          wanted = new ReadmeOptions(num, wanted.dim, wanted.nbatch, wanted.hasShortcut);
        }
        case "--dim" -> {
          int dim = (int) Arguments.number(name, arguments, ++i, 1, MAX_NUMBERS);
          wanted = new ReadmeOptions(wanted.num, dim, wanted.nbatch, wanted.hasShortcut);
        }
        case "--nbatch" -> {
          int nbatch = (int) Arguments.number(name, arguments, ++i, 0, MAX_BATCHES);
          wanted = new ReadmeOptions(wanted.num, wanted.dim, nbatch, wanted.hasShortcut);
        }
        default -> throw new IllegalArgumentException("Unknown option: '" + name + "'");
      }
    }
    if ((long) wanted.num * wanted.dim > MAX_NUMBERS) {
      throw new IllegalArgumentException(
          "--num %d times --dim %d are more than %d numbers a rank: take fewer of one of them"
              .formatted(wanted.num, wanted.dim, MAX_NUMBERS));
    }
    return Optional.of(wanted);
  }
}
