// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.Map;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.cluster.HostProbe;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.types.Plural;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options for the ranks and executors of a command, as a mixin. */
public final class ClusterOptions {
  private static final int MAX = 1024;

  /** Spark starts no executor with less. */
  private static final int MIN_MEMORY_MB = 450;

  /** 512 ranks on two processors took three minutes for the demo's rows, nearly all to start. */
  private static final int MAX_RANKS_PER_PROCESSOR = 256;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      description = {
        "Number of ranks; 4 by default, 2 for get.",
        "Under spark-submit: by default all slots of its executors."
      })
  private Integer ranks;

  @Option(
      names = "--executors",
      paramLabel = "M",
      description = "Executors, each in its own JVM; 2 by default. Ignored under spark-submit.")
  private int executors = 2;

  @Option(
      names = "--memory",
      paramLabel = "MB",
      description =
          "Heap of one executor in MiB; ${DEFAULT-VALUE} by default. Rows are stored off-heap."
              + " Ignored under spark-submit.")
  private int memoryMb = 1024;

  @Option(
      names = "--width",
      paramLabel = "N",
      description = {
        "Number of consecutive ranks in a replica group: each group holds all rows, and reads"
            + " stay inside it.",
        "Must divide the number of ranks; all ranks by default."
      })
  private Integer width;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /**
   * Starts a Spark application that has a slot for every rank, or uses the one of spark-submit.
   *
   * @param defaultRanks number of ranks of an embedded application if the user gives none
   * @param settings Spark settings
   */
  public EmbeddedSpark open(int defaultRanks, Map<String, String> settings) {
    if (ranks == null && !EmbeddedSpark.isSubmitted()) {
      ranks = defaultRanks;
    }
    OptionRange.check(command, "--ranks", ranks == null ? 1 : ranks, 1, MAX);
    OptionRange.check(command, "--executors", executors, 1, MAX);
    OptionRange.check(command, "--width", width == null ? 1 : width, 1, MAX);
    if (!EmbeddedSpark.isSubmitted()) {
      checkMachine(HostProbe.read(ProcessDirectory.SHARED_MEMORY));
      checkWidth(ranks(executors));
    }
    int coresEach = ranks == null ? 1 : (ranks + executors - 1) / executors;
    return EmbeddedSpark.open(
        "ddstore " + command.name(), executors, coresEach, memoryMb, settings);
  }

  /** Refuses, before executors start, what this machine cannot run. */
  void checkMachine(HostFacts host) {
    int memoryMbOfHost = (int) Math.min(host.physicalMemoryBytes() >> 20, Integer.MAX_VALUE);
    OptionRange.check(command, "--memory", memoryMb, MIN_MEMORY_MB, memoryMbOfHost);
    if ((long) executors * memoryMb > memoryMbOfHost) {
      throw new ParameterException(
          command.commandLine(),
          "--executors %d: heaps of %,d MiB each exceed the %,d MiB of this machine: at most %d, or less --memory"
              .formatted(executors, memoryMb, memoryMbOfHost, memoryMbOfHost / memoryMb));
    }
    int mostRanks = MAX_RANKS_PER_PROCESSOR * host.processors();
    if (ranks != null && ranks > mostRanks) {
      throw new ParameterException(
          command.commandLine(),
          "--ranks %d: this machine has %s: at most %d"
              .formatted(ranks, Plural.of(host.processors(), "processor"), mostRanks));
    }
  }

  private void checkWidth(int allRanks) {
    if (width != null && allRanks % width != 0) {
      throw new ParameterException(
          command.commandLine(),
          "--width %d: not a divisor of the %s".formatted(width, Plural.of(allRanks, "rank")));
    }
  }

  public int ranks(int byDefault) {
    return ranks == null ? byDefault : ranks;
  }

  /** Returns the spec with the requested ranks and group width. Call after {@link #open}. */
  public StoreSpec on(StoreSpec spec) {
    StoreSpec onRanks = ranks == null ? spec : spec.ranks(ranks);
    return width == null ? onRanks : onRanks.width(width);
  }
}
