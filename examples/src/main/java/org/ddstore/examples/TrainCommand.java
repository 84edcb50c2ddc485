package org.ddstore.examples;

import java.util.List;
import java.util.Optional;
import org.ddstore.cli.ExampleCluster;

/** {@code ./ddstore example train}: {@link Train} with executors and data of its own. */
public final class TrainCommand {
  private static final int FAILED = 1;
  private static final int USAGE = 2;

  private TrainCommand() {}

  /** Exits with 0 if all was as it should, 1 if not, 2 if an argument is wrong. */
  public static void main(String[] arguments) throws Exception {
    System.exit(run(List.of(arguments)));
  }

  private static int run(List<String> arguments) throws Exception {
    Optional<TrainOptions> wanted;
    try {
      wanted = TrainOptions.parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println("ddstore: " + e.getMessage());
      System.err.println("See ./ddstore example train --help");
      return USAGE;
    }
    if (wanted.isEmpty()) {
      System.out.print(TrainOptions.USAGE);
      return 0;
    }
    TrainReport report;
    try (ExampleCluster cluster = ExampleCluster.start("train", Train.RANKS)) {
      report =
          new TrainReport(Train.train(cluster.images(wanted.get().rows()), wanted.get().epochs()));
    }
    System.out.println(wanted.get().isJson() ? report.toJson() : report.toText());
    return report.isSound() ? 0 : FAILED;
  }
}
