// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.commons.math3.stat.StatUtils;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Progress;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Plural;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that kills and stops executors, and measures how long readers and rows need. */
@Command(
    name = "recover",
    mixinStandardHelpOptions = true,
    description = {
      "Kills and stops executors of a new Spark application of two executors, while readers read"
          + " random rows over tcp and compare them.",
      "With two copies: the longest pause of each reader after a kill and during a stop, and the"
          + " time until an executor that goes on is used again.",
      "Without copies: the rate at which a rank loads lost rows again, beside that of the first load,"
          + " both in executors that have loaded nothing before."
    })
final class RecoverBench extends Bench {
  private static final long ROWS_IN_COPIES = 100_000;

  @Option(
      names = "--kills",
      paramLabel = "N",
      description = "Kills of an executor with copies; ${DEFAULT-VALUE} by default.")
  private int kills = 30;

  @Option(
      names = "--stops",
      paramLabel = "N",
      description = "Stops of an executor with copies; ${DEFAULT-VALUE} by default.")
  private int stops = 10;

  @Option(
      names = "--stop-seconds",
      paramLabel = "S",
      description = "Duration of a stop; ${DEFAULT-VALUE} by default.")
  private int stopSeconds = 8;

  @Option(
      names = "--reloads",
      paramLabel = "N",
      description = "Kills of an executor without copies; ${DEFAULT-VALUE} by default.")
  private int reloads = 5;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Number of rows without copies; ${DEFAULT-VALUE} by default.")
  private long rows = 8_000_000;

  @Option(
      names = "--readers",
      paramLabel = "N",
      description = "Threads that read at the same time; ${DEFAULT-VALUE} by default.")
  private int readers = 2;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of the rows that are read; ${DEFAULT-VALUE} by default.")
  private long seed = 1;

  /**
   * A sample of a measurement.
   *
   * @param what what is measured
   * @param unit unit of the value
   */
  record Sample(String what, String unit, double value) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange.check(command, "--kills", kills, 0, 10_000);
    OptionRange.check(command, "--stops", stops, 0, 10_000);
    OptionRange.check(command, "--stop-seconds", stopSeconds, 1, 60);
    OptionRange.check(command, "--reloads", reloads, 0, 10_000);
    OptionRange.check(command, "--rows", rows, 1000, 1L << 40);
    OptionRange.check(command, "--readers", readers, 1, 64);
    if (EmbeddedSpark.isSubmitted()) {
      throw new DDStoreException("bench recover ends executors: start it with ./ddstore");
    }
    List<Sample> samples = new ArrayList<>();
    long mismatches = 0;
    try (Progress progress = progress(kills + stops + reloads)) {
      int step = 0;
      if (kills + stops > 0) {
        try (EmbeddedSpark spark = open(2)) {
          RecoverRun run = new RecoverRun(spark, ROWS_IN_COPIES, readers, seed, samples);
          for (int i = 0; i < kills; i++) {
            run.killWithCopies();
            progress.stepTo(++step);
          }
          for (int i = 0; i < stops; i++) {
            run.stopWithCopies(stopSeconds);
            progress.stepTo(++step);
          }
          mismatches += run.mismatches();
        }
      }
      for (int i = 0; i < reloads; i++) {
        try (EmbeddedSpark spark = open(1)) {
          RecoverRun run = new RecoverRun(spark, rows, readers, seed + i, samples);
          run.killWithoutCopies();
          mismatches += run.mismatches();
        }
        progress.stepTo(++step);
      }
    }
    return report(samples, mismatches);
  }

  private static EmbeddedSpark open(int coresEach) {
    return EmbeddedSpark.open(
        "ddstore bench recover",
        2,
        coresEach,
        1024,
        Map.of("spark.deploy.maxExecutorRetries", "-1")); // replaces every killed executor
  }

  private int report(List<Sample> samples, long mismatches) {
    List<String> all = new ArrayList<>(new TreeSet<>(samples.stream().map(Sample::what).toList()));
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("seed", seed);
    table(
        "measured, unit, samples, median, 99th percentile, longest",
        all,
        what -> {
          double[] values = values(samples, what);
          String unit = unit(samples, what);
          return List.of(
              what,
              unit,
              values.length,
              fixed(2, median(values)),
              fixed(2, percentile(values)),
              fixed(2, StatUtils.max(values)));
        });
    for (String what : all) {
      double[] values = values(samples, what);
      figure(Figure.of("recover", what, Figure.DDSTORE, unit(samples, what), values));
      summary.put(
          what,
          Map.of(
              "median",
              median(values),
              "p99",
              percentile(values),
              "max",
              StatUtils.max(values),
              "samples",
              values.length));
    }
    line(
        "%s, %s and %s without copies; %s; seed %d",
        Plural.of(kills, "kill"),
        Plural.of(stops, "stop"),
        Plural.of(reloads, "kill"),
        Plural.of(readers, "reader"),
        seed);
    return finish(mismatches, samples, summary);
  }

  private static double[] values(List<Sample> samples, String what) {
    return samples.stream()
        .filter(sample -> sample.what().equals(what))
        .mapToDouble(Sample::value)
        .toArray();
  }

  private static String unit(List<Sample> samples, String what) {
    return samples.stream()
        .filter(sample -> sample.what().equals(what))
        .findFirst()
        .orElseThrow()
        .unit();
  }

  private static double percentile(double... values) {
    return StatUtils.percentile(values, 99);
  }
}
