// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.Output;
import org.ddstore.local.Progress;
import org.ddstore.local.ScratchDirectory;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.types.Plural;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command that compares training steps with and without checkpoints. */
@Command(
    name = "checkpoint",
    mixinStandardHelpOptions = true,
    description = {
      "Trains on ranks in separate JVMs: a computation, an average of gradients over the ranks, an"
          + " update of the parameters.",
      "Steps without checkpoints, with a checkpoint saved in the background and with one saved"
          + " synchronously take turns. The last checkpoint is compared with the model."
    })
final class CheckpointBench implements Callable<Integer> {
  private static final int WAYS = 3;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      description = "Number of ranks; ${DEFAULT-VALUE} by default.")
  private int ranks = 2;

  @Option(
      names = "--parameters",
      paramLabel = "N",
      description =
          "Parameters of the model; ${DEFAULT-VALUE} by default. A checkpoint has three floats for"
              + " each.")
  private int parameters = 650_000;

  @Option(
      names = "--step-ms",
      paramLabel = "MS",
      description = "Time of the computation of a step; ${DEFAULT-VALUE} by default.")
  private double stepMillis = 20;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description = "Steps per checkpoint; ${DEFAULT-VALUE} by default.")
  private int steps = 100;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measured rounds after one warm-up round; ${DEFAULT-VALUE} by default.")
  private int rounds = 7;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description =
          "Existing directory for the checkpoints; by default one in the temporary directory, which"
              + " is deleted.")
  private Path directory;

  @Mixin private Output output;

  @Spec private CommandSpec command;

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange.check(command, "--ranks", ranks, 1, RankNetwork.MAX_RANKS);
    OptionRange.check(command, "--parameters", parameters, 1, 1 << 28);
    OptionRange.check(command, "--step-ms", Math.round(Math.ceil(stepMillis)), 1, 60_000);
    OptionRange.check(command, "--steps", steps, 1, 1_000_000);
    OptionRange.check(command, "--rounds", rounds, 1, 1000);
    checkDirectory();
    List<CheckpointTime> times = new ArrayList<>();
    try (ScratchDirectory scratch = ScratchDirectory.create("ddstore-checkpoint-");
        Progress progress = Progress.open("bench checkpoint", WAYS)) {
      Path place = directory == null ? scratch.path() : directory.toAbsolutePath();
      CheckpointPlan plan =
          new CheckpointPlan(ranks, parameters, stepMillis, steps, rounds, place.toString());
      try (RankProcesses processes = RankProcesses.start(new CheckpointBenchRank(plan), 1)) {
        processes.play(
            time -> {
              times.add((CheckpointTime) time);
              progress.stepTo(times.size());
            });
      }
    }
    return report(times);
  }

  private void checkDirectory() {
    if (directory != null && !(Files.isDirectory(directory) && Files.isWritable(directory))) {
      throw new ParameterException(
          command.commandLine(),
          "--directory: %s is not a writable directory: create it, or omit the option"
              .formatted(directory.toAbsolutePath()));
    }
  }

  private int report(List<CheckpointTime> times) {
    output.table(
        List.of("checkpoints", "step ms", "save call ms", "ratio to none", "mismatches"),
        times.stream()
            .map(
                time ->
                    List.of(
                        time.way(),
                        decimal(time.stepMillis()),
                        decimal(time.saveMillis()),
                        decimal(time.ratio()),
                        time.mismatches()))
            .toList());
    output.line(
        String.format(
            Locale.ROOT,
            "%s, a checkpoint of %s every %s; medians of %s",
            Plural.of(ranks, "rank"),
            ByteSize.format(3L * parameters * Float.BYTES),
            Plural.of(steps, "step"),
            Plural.of(rounds, "round")));
    long mismatches = times.stream().mapToLong(CheckpointTime::mismatches).sum();
    Map<String, Object> more = new LinkedHashMap<>();
    more.put("ranks", ranks);
    more.put("parameters", parameters);
    more.put("steps", steps);
    times.stream()
        .filter(time -> time.saveMillis() > 0)
        .forEach(time -> more.put(time.way() + "Ratio", time.ratio()));
    output.finish(mismatches, times, more);
    return mismatches == 0 ? 0 : 1;
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }
}
