// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.driver.RankNetwork;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.Progress;
import org.ddstore.local.ScratchDirectory;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.types.Plural;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
final class CheckpointBench extends Bench {
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

  /**
   * The measured time of training steps in one way, as medians over the rounds.
   *
   * @param way none, background or synchronous
   * @param stepMillis time of a step on the slowest rank, with its share of the checkpoint
   * @param saveMillis duration of the call of {@code save} on the slowest rank; 0 without
   *     checkpoints
   * @param ratio ratio of the step's time to that without checkpoints in the same round
   * @param mismatches number of bytes of the last checkpoint that differ from the saved ones
   */
  record Time(String way, double stepMillis, double saveMillis, double ratio, long mismatches)
      implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange.check(command, "--ranks", ranks, 1, RankNetwork.MAX_RANKS);
    OptionRange.check(command, "--parameters", parameters, 1, 1 << 28);
    OptionRange.check(command, "--step-ms", Math.round(Math.ceil(stepMillis)), 1, 60_000);
    OptionRange.check(command, "--steps", steps, 1, 1_000_000);
    OptionRange.check(command, "--rounds", rounds, 1, 1000);
    checkDirectory();
    List<Time> times = new ArrayList<>();
    try (ScratchDirectory scratch = ScratchDirectory.create("ddstore-checkpoint-");
        Progress progress = progress(WAYS)) {
      Path folder = directory == null ? scratch.path() : directory.toAbsolutePath();
      CheckpointBenchRank work =
          new CheckpointBenchRank(ranks, parameters, stepMillis, steps, rounds, folder.toString());
      runOnRanks(work, 1, Time.class, times, progress);
    }
    return report(times);
  }

  private void checkDirectory() {
    if (directory != null && !(Files.isDirectory(directory) && Files.isWritable(directory))) {
      throw usage(
          "--directory: %s is not a writable directory: create it, or omit the option"
              .formatted(directory.toAbsolutePath()));
    }
  }

  private int report(List<Time> times) {
    table(
        "checkpoints, step ms, save call ms, ratio to none, mismatches",
        times,
        time ->
            List.of(
                time.way(),
                fixed(3, time.stepMillis()),
                fixed(3, time.saveMillis()),
                fixed(3, time.ratio()),
                time.mismatches()));
    line(
        "%s, a checkpoint of %s every %s; medians of %s",
        Plural.of(ranks, "rank"),
        ByteSize.format(3L * parameters * Float.BYTES),
        Plural.of(steps, "step"),
        Plural.of(rounds, "round"));
    long mismatches = times.stream().mapToLong(Time::mismatches).sum();
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("ranks", ranks);
    summary.put("parameters", parameters);
    summary.put("steps", steps);
    times.stream()
        .filter(time -> time.saveMillis() > 0)
        .forEach(time -> summary.put(time.way() + "Ratio", time.ratio()));
    for (Time time : times) {
      Figure figure =
          Figure.of(
              "checkpoint",
              "a step of a training on " + Plural.of(ranks, "rank"),
              time.way(),
              "ms",
              time.stepMillis());
      figure(figure.to(times.get(0).way(), times.get(0).stepMillis()).wrong(time.mismatches()));
    }
    return finish(mismatches, times, summary);
  }
}
