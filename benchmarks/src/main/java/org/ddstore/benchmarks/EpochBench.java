// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.driver.RankNetwork;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.cli.OptionRange;
import org.ddstore.cli.TransportOptions;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Progress;
import org.ddstore.local.ScratchDirectory;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.types.Plural;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that measures an epoch of the loader and the same epoch of alternatives. */
@Command(
    name = "epoch",
    mixinStandardHelpOptions = true,
    description = {
      "Delivers all batches of an epoch to ranks in separate JVMs: by the loader, to a consumer"
          + " that does nothing, and by reading batches whose rows are known in advance (raw"
          + " gather).",
      "Compares with the same epoch in the same order from a memory-mapped file, from one file"
          + " per row, and by Spark from Parquet and from its cache, all in the page cache and with an order known in"
          + " advance.",
      "Each way reads one epoch in which every row is checked, then timed epochs.",
      "Finally a consumer whose step takes four times as long as a batch of the loader reports the"
          + " share of time that it waits, from the loader's statistics."
    })
final class EpochBench extends Bench {
  private static final int EXECUTOR_MB = 1024;
  private static final int ROUNDS = 5;
  private static final int MAX_BATCH_MB =
      128; // half of a loader's limit, because remote rows are staged first

  @Option(
      names = "--row-bytes",
      paramLabel = "N",
      split = ",",
      description = "Row sizes in bytes; ${DEFAULT-VALUE} by default.")
  private List<Integer> rowBytes = List.of(256, 4096);

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Rows per batch of one rank; ${DEFAULT-VALUE} by default.")
  private int batch = 1024;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      description =
          "Number of ranks; by default one per two processors, at most 2, because a loader plans on"
              + " one processor while it reads on the other.")
  private int ranks = Math.max(1, Math.min(2, Runtime.getRuntime().availableProcessors() / 2));

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Total number of rows; derived from --store-mb by default.")
  private int rows;

  @Option(
      names = "--store-mb",
      paramLabel = "MB",
      description =
          "Total size of the rows in MiB; ${DEFAULT-VALUE} by default. If the rows fit into the"
              + " processor's caches, reading them costs less than choosing them.")
  private int storeMb = 128;

  @Option(
      names = "--sampler",
      paramLabel = "NAME",
      description = "Sampler: shuffled, chunked or sequential; ${DEFAULT-VALUE} by default.")
  private String sampler = "shuffled";

  @Option(
      names = "--beside",
      paramLabel = "WAY",
      split = ",",
      description =
          "Alternatives to measure: mapped, files, parquet, cache, or none; all by default. The raw gather"
              + " is always measured.")
  private List<String> beside = List.of("mapped", "files", "parquet", "cache");

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description =
          "Seconds per measurement, in whole epochs, after a warm-up of 1.5 times that;"
              + " ${DEFAULT-VALUE} by default. Spark reads one epoch in each of "
              + ROUNDS
              + " rounds.")
  private double seconds = 2;

  @Mixin private TransportOptions transport;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Set<EpochWay> ways = check();
    List<EpochWay> ofSpark = ways.stream().filter(EpochWay::isOfSpark).toList();
    ways.removeAll(ofSpark);
    List<EpochResult> results = new ArrayList<>();
    EpochPlan plan;
    try (ScratchDirectory scratch = ScratchDirectory.create("ddstore-epoch-")) {
      plan =
          new EpochPlan(
              List.copyOf(rowBytes),
              batch,
              new RankNetwork(ranks, transport.name(), transport.shortcut(), false),
              rows,
              (long) storeMb << 20,
              sampler,
              List.copyOf(ways),
              scratch.path().toString(),
              seconds,
              ROUNDS);
      int steps = rowBytes.size() * (ways.size() + ofSpark.size());
      try (Progress progress = progress(steps)) {
        runOnRanks(plan, 1, EpochResult.class, results, progress);
        if (!ofSpark.isEmpty()) {
          measureSpark(plan, ofSpark, results, progress);
        }
      }
    }
    results.sort(Comparator.comparingInt(result -> rowBytes.indexOf(result.rowBytes())));
    return report(results);
  }

  private Set<EpochWay> check() {
    transport.check();
    OptionRange.checkAll(command, "--row-bytes", rowBytes, 8, 1 << 20);
    OptionRange.check(command, "--ranks", ranks, 1, RankNetwork.MAX_RANKS);
    OptionRange.check(command, "--batch", batch, 1, 1 << 16);
    OptionRange.check(command, "--store-mb", storeMb, 1, 1 << 20);
    if ((long) batch * Collections.max(rowBytes) > (long) MAX_BATCH_MB << 20) {
      throw usage(
          "--batch %d: more than %d MiB with rows of %d bytes; use a smaller --batch or --row-bytes"
              .formatted(batch, MAX_BATCH_MB, Collections.max(rowBytes)));
    }
    if (rows != 0) {
      OptionRange.check(command, "--rows", rows, (long) batch * ranks, EpochPlan.MAX_ROWS);
    } else if (((long) storeMb << 20) / Collections.max(rowBytes) < (long) batch * ranks) {
      throw usage(
          "--store-mb %d: too small for a batch of %d rows of %d bytes on each of %d ranks"
              .formatted(storeMb, batch, Collections.max(rowBytes), ranks));
    }
    OptionRange.checkSeconds(command, seconds);
    if (!EpochPlan.SAMPLERS.contains(sampler)) {
      throw usage(
          "--sampler %s: unknown value; legal values: %s"
              .formatted(sampler, String.join(", ", EpochPlan.SAMPLERS)));
    }
    Set<EpochWay> ways = EnumSet.of(EpochWay.GATHER, EpochWay.LOADER);
    for (String way : beside) {
      switch (way) {
        case "mapped" -> ways.add(EpochWay.MAPPED);
        case "files" -> ways.add(EpochWay.FILES);
        case "parquet" -> ways.add(EpochWay.PARQUET);
        case "cache" -> ways.add(EpochWay.CACHE);
        case "none" -> {}
        default ->
            throw usage(
                "--beside %s: unknown value; legal values: mapped, files, parquet, cache, none"
                    .formatted(way));
      }
    }
    return ways;
  }

  private void measureSpark(
      EpochPlan plan, List<EpochWay> ways, List<EpochResult> results, Progress progress)
      throws IOException {
    Map<String, String> settings = Map.of("spark.sql.shuffle.partitions", "" + ranks);
    try (EmbeddedSpark spark =
        EmbeddedSpark.open("ddstore bench epoch", ranks, 1, EXECUTOR_MB, settings)) {
      for (int bytes : rowBytes) {
        double gatherMicros =
            results.stream()
                .filter(result -> result.rowBytes() == bytes) // the first is the raw gather
                .findFirst()
                .orElseThrow()
                .microsPerRow();
        for (EpochWay way : ways) {
          results.add(ParquetEpochs.measure(spark, plan.ofSize(bytes), way, gatherMicros));
          progress.stepTo(results.size());
        }
      }
    }
  }

  private int report(List<EpochResult> results) {
    table(
        "way, row, epoch s, µs/row, GB/s, ratio to raw gather, waits, mismatches",
        results,
        EpochBench::cells);
    line(
        "%s, %s, %s, batches of %,d; µs/row and GB/s over all ranks; waits: share of time"
            + " of a consumer whose step takes as long as four batches",
        Plural.of(ranks, "rank"),
        rows > 0 ? Plural.of(rows, "row") : ByteSize.format((long) storeMb << 20),
        sampler,
        batch);
    results.forEach(result -> figure(figure(result, results)));
    long mismatches = results.stream().mapToLong(EpochResult::mismatches).sum();
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("ranks", ranks);
    summary.put("rowBytes", rowBytes);
    summary.put("sampler", sampler);
    summary.put("ratioToRawGather", maxOfLoader(results, EpochResult::ratioToRawGather));
    summary.put("waits", maxOfLoader(results, EpochResult::waits));
    return finish(mismatches, results, summary);
  }

  private Figure figure(EpochResult result, List<EpochResult> all) {
    String gather = EpochWay.GATHER.words();
    EpochResult baseline =
        all.stream()
            .filter(other -> other.rowBytes() == result.rowBytes())
            .filter(other -> other.way().equals(EpochWay.GATHER.toString()))
            .findFirst()
            .orElseThrow();
    EpochWay way = EpochWay.valueOf(result.way().toUpperCase(Locale.ROOT));
    Figure figure =
        Figure.of(
                "epoch",
                "%s, %s, batches of %,d, %s"
                    .formatted(
                        ByteSize.format(result.rowBytes()),
                        sampler,
                        batch,
                        Plural.of(ranks, "rank")),
                way == EpochWay.LOADER ? Figure.DDSTORE : way.words(),
                "µs/row",
                result.rounds())
            .to(gather, baseline.rounds())
            .wrong(result.mismatches());
    return way == EpochWay.GATHER ? figure.asLimit() : figure;
  }

  /** Returns the worst value of the loader over all row sizes. */
  private static double maxOfLoader(
      List<EpochResult> results, ToDoubleFunction<EpochResult> value) {
    return results.stream()
        .filter(result -> result.way().equals(EpochWay.LOADER.toString()))
        .mapToDouble(value)
        .max()
        .orElseThrow();
  }

  private static List<Object> cells(EpochResult result) {
    return Arrays.asList(
        EpochWay.valueOf(result.way().toUpperCase(Locale.ROOT)).words(),
        ByteSize.format(result.rowBytes()),
        decimal(result.epochSeconds()),
        decimal(result.microsPerRow()),
        decimal(result.gbPerSecond()),
        decimal(result.ratioToRawGather()),
        result.waits() == null ? null : fixed(2, 100 * result.waits()) + " %",
        result.mismatches());
  }
}
