package org.ddstore.cli;

import java.util.Map;
import org.ddstore.spark.StoreSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** On how many ranks and executors a command runs, as a mixin. */
final class ClusterOptions {
  private static final int MAX = 1024;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      description = {
        "Number of ranks: demo and explain 4, get 2 unless said.",
        "Under spark-submit: all slots of its executors."
      })
  private Integer ranks;

  @Option(
      names = "--executors",
      paramLabel = "M",
      description = "Executors, each in a JVM of its own; 2 unless said. Not under spark-submit.")
  private int executors = 2;

  @Option(
      names = "--memory",
      paramLabel = "MB",
      description =
          "Heap of one executor; ${DEFAULT-VALUE} unless said. Rows lie outside of it. Not under"
              + " spark-submit.")
  private int memoryMb = 1024;

  @Option(
      names = "--width",
      paramLabel = "N",
      description = {
        "Ranks of a replica group: each group of so many consecutive ranks holds all rows, and"
            + " reads stay inside it.",
        "Divides the number of ranks; all ranks unless said."
      })
  private Integer width;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /**
   * Starts a Spark that has a slot for every rank, or takes that of spark-submit.
   *
   * @param defaultRanks for an embedded one, if the user names no number
   * @param settings Spark's
   */
  EmbeddedSpark open(int defaultRanks, Map<String, String> settings) {
    if (ranks == null && !EmbeddedSpark.isSubmitted()) {
      ranks = defaultRanks;
    }
    OptionRange.check(command, "--ranks", ranks == null ? 1 : ranks, 1, MAX);
    OptionRange.check(command, "--executors", executors, 1, MAX);
    OptionRange.check(command, "--width", width == null ? 1 : width, 1, MAX);
    int coresEach = ranks == null ? 1 : (ranks + executors - 1) / executors;
    return EmbeddedSpark.open(
        "ddstore " + command.name(), executors, coresEach, memoryMb, settings);
  }

  /** The spec on as many ranks as were asked for, in such groups. After {@link #open}. */
  StoreSpec on(StoreSpec spec) {
    StoreSpec onRanks = ranks == null ? spec : spec.ranks(ranks);
    return width == null ? onRanks : onRanks.width(width);
  }
}
