// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.driver.RankNetwork;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.benchmarks.scale.ScaleMeasurement;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Progress;
import org.ddstore.spark.StoreSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that measures and models the start of a store by the number of ranks. */
@Command(
    name = "scale",
    mixinStandardHelpOptions = true,
    description = {
      "Starts real ranks in executors of Spark, then up to 64 as threads with a network endpoint"
          + " each. For larger numbers it measures the parts of a start by the code that ranks and"
          + " driver run, with 10^12 rows, and adds a model of the network, labelled simulated.",
      "The model adds all parts as if none overlapped, without the load of rows and without the"
          + " scheduling of Spark."
    })
public final class ScaleBench extends Bench {
  /** Numbers of ranks whose starts are simulated by default. */
  public static final List<Integer> SIZES = List.of(1_024, 4_096, 16_384, 32_768, 65_536, 131_072);

  private static final int MAX_SIMULATED = 1 << 17;
  private static final int EXECUTORS = 2;
  private static final int MEMORY_MB = 1024;
  private static final List<String> UNITS = List.of("s", "B");

  @Option(
      names = "--ranks",
      paramLabel = "N",
      split = ",",
      description = "Simulated numbers of ranks, multiples of 16; ${DEFAULT-VALUE} by default.")
  private List<Integer> ranks = SIZES;

  @Option(
      names = "--real-ranks",
      paramLabel = "N",
      split = ",",
      description = "Real ranks in executors; ${DEFAULT-VALUE} by default.")
  private List<Integer> realRanks = List.of(1, 2, 4, 8);

  @Option(
      names = "--threads",
      paramLabel = "N",
      split = ",",
      description = "Real ranks as threads of one JVM; ${DEFAULT-VALUE} by default.")
  private List<Integer> threads = List.of(8, 16, 32, 64);

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Rows that real ranks in executors load; ${DEFAULT-VALUE} by default.")
  private long rows = 200_000;

  @Option(
      names = "--gbit",
      paramLabel = "N",
      description =
          "Speed of the modelled links in 10^9 bits per second; ${DEFAULT-VALUE} by default.")
  private double gigabits = 10;

  @Option(
      names = "--latency-us",
      paramLabel = "N",
      description = "Latency of the modelled links in microseconds; ${DEFAULT-VALUE} by default.")
  private double latencyMicros = 100;

  @Option(
      names = "--ranks-per-executor",
      paramLabel = "N",
      description = "Ranks of a modelled executor: 1, 2, 4, 8 or 16; ${DEFAULT-VALUE} by default.")
  private int ranksPerExecutor = 8;

  @Option(
      names = "--quick",
      description = "Fewer sizes: 1 and 2 real ranks, 8 and 32 threads, 1,024 to 16,384 ranks.")
  private boolean quick;

  @Override
  public Integer call() throws Exception {
    if (quick) {
      realRanks = List.of(1, 2);
      threads = List.of(8, 32);
      ranks = List.of(1_024, 4_096, 16_384);
    }
    check();
    int most = realRanks.stream().mapToInt(Integer::intValue).max().orElseThrow();
    try (EmbeddedSpark spark =
            EmbeddedSpark.open("ddstore scale", EXECUTORS, (most + 1) / EXECUTORS, MEMORY_MB);
        Progress progress = progress(realRanks.size() + threads.size() + ranks.size())) {
      ScaleMeasurement scale =
          new ScaleMeasurement(spark.session(), gigabits, latencyMicros / 1e6, ranksPerExecutor);
      int[] done = new int[1];
      scale.onSpark(realRanks, rows, quick ? 1 : 3, size -> progress.stepTo(++done[0]));
      scale.inThreads(threads, size -> progress.stepTo(++done[0]));
      scale.simulated(ranks, size -> progress.stepTo(++done[0]));
      return report(scale);
    }
  }

  private void check() {
    OptionRange.checkAll(command, "--real-ranks", realRanks, 1, RankNetwork.MAX_RANKS);
    OptionRange.checkAll(command, "--threads", threads, 2, RankNetwork.MAX_RANKS);
    OptionRange.checkAll(command, "--ranks", ranks, 32, MAX_SIMULATED);
    OptionRange.check(command, "--ranks-per-executor", ranksPerExecutor, 1, 16);
    OptionRange.check(command, "--rows", rows, 1024L * RankNetwork.MAX_RANKS / 4, 1 << 24);
    if (Integer.bitCount(ranksPerExecutor) > 1) {
      throw usage("--ranks-per-executor: %d is not a power of two".formatted(ranksPerExecutor));
    }
    for (int size : ranks) {
      if (size % 16 != 0) {
        throw usage("--ranks: %d is not a multiple of 16".formatted(size));
      }
    }
    if (!(gigabits > 0 && latencyMicros >= 0)) {
      throw usage("--gbit %s, --latency-us %s: above 0".formatted(gigabits, latencyMicros));
    }
  }

  private int report(ScaleMeasurement scale) {
    List<Figure> figures = scale.figures();
    Map<String, String> growth = scale.growth(ranks);
    List<List<Object>> rowsOfTable = new ArrayList<>();
    for (Figure figure : figures) {
      rowsOfTable.add(
          List.of(
              figure.subject().split(" ", 2)[0],
              figure.way() + (figure.phase().equals(Figure.SIMULATED) ? " (simulated)" : ""),
              value(figure)));
    }
    table("ranks, part, median", rowsOfTable, row -> row);
    table(
        "part, growth",
        List.copyOf(growth.entrySet()),
        entry -> List.of(entry.getKey(), entry.getValue()));
    line(
        "simulated with %s Gbit/s, %s us, %d ranks per executor: %s",
        gigabits, latencyMicros, ranksPerExecutor, starts(scale));
    line(
        "a start fits one minute with %,d of these ranks; a store permits %,d",
        scale.limit(), StoreSpec.MAX_RANKS);
    long mismatches = figures.stream().mapToLong(Figure::mismatches).sum();
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("gigabitsPerSecond", gigabits);
    summary.put("latencyMicros", latencyMicros);
    summary.put("ranksPerExecutor", ranksPerExecutor);
    summary.put("simulatedRows", ScaleMeasurement.ROWS);
    summary.put("startSeconds", scale.starts());
    summary.put("modelledLimit", scale.limit());
    summary.put("limitOfRanks", StoreSpec.MAX_RANKS);
    summary.put("growth", growth);
    figures.forEach(this::figure);
    return finish(mismatches, List.of(), summary);
  }

  private static String starts(ScaleMeasurement scale) {
    List<String> texts = new ArrayList<>();
    scale
        .starts()
        .forEach(
            (size, seconds) ->
                texts.add(String.format(Locale.ROOT, "%,d ranks %.1f s", size, seconds)));
    return String.join(", ", texts);
  }

  private static String value(Figure figure) {
    double median = figure.median();
    if (figure.unit().equals("s")) {
      return median >= 1
          ? String.format(Locale.ROOT, "%.2f s", median)
          : median >= 1e-3
              ? String.format(Locale.ROOT, "%.2f ms", median * 1e3)
              : String.format(Locale.ROOT, "%.3f us", median * 1e6);
    }
    return UNITS.contains(figure.unit())
        ? String.format(Locale.ROOT, "%,.3f MB", median / 1e6)
        : String.format(Locale.ROOT, "%,.0f", median);
  }
}
