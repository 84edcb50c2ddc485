package org.ddstore.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Queries of a resident store beside the same queries of Spark's own cache. */
@Command(
    name = "scan",
    mixinStandardHelpOptions = true,
    description = {
      "Loads rows (id, label, value, features float32[8]) into a resident store and into Spark's cache,"
          + " persist(MEMORY_ONLY), on the same executors, and runs the same queries of both in turns:",
      "the sum of a column, a filtered count, and rows looked up by their index."
    })
final class ScanBench implements Callable<Integer> {
  private static final int CORES = 2;

  @Option(names = "--rows", paramLabel = "N", description = "Rows; ${DEFAULT-VALUE} unless said.")
  private long rows = 10_000_000;

  @Option(
      names = "--lookups",
      paramLabel = "N",
      description = "Rows of a lookup; ${DEFAULT-VALUE} unless said.")
  private int lookups = 1_000;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measured rounds after three that are not; ${DEFAULT-VALUE} unless said.")
  private int rounds = 9;

  @Option(
      names = "--executor-memory",
      paramLabel = "MB",
      description =
          "Heap of one executor, where Spark's cache is; ${DEFAULT-VALUE} unless said. Not under"
              + " spark-submit.")
  private int memoryMb = 3072;

  @Mixin private Output output;

  @Spec private CommandSpec command;

  /**
   * One query.
   *
   * @param query what it does
   * @param storeMillis median of the store
   * @param cacheMillis median of Spark's cache
   * @param ratioToSparkCache the first by the second
   */
  record Measured(String query, double storeMillis, double cacheMillis, double ratioToSparkCache) {}

  @Override
  public Integer call() {
    OptionRange.check(command, "--rows", rows, 1, 1L << 40);
    OptionRange.check(command, "--lookups", lookups, 1, 1 << 20);
    OptionRange.check(command, "--rounds", rounds, 1, 1000);
    OptionRange.check(command, "--executor-memory", memoryMb, 512, 1 << 20);
    List<Measured> measured = new ArrayList<>();
    long mismatches;
    boolean isAllCached;
    try (EmbeddedSpark spark =
            EmbeddedSpark.open("ddstore bench scan", CORES, 1, memoryMb, Map.of());
        ScanRun run = ScanRun.load(spark.session(), rows, lookups);
        Progress progress = Progress.open("bench scan", ScanRun.QUERIES.size())) {
      for (String query : ScanRun.QUERIES) {
        measured.add(run.measure(query, rounds));
        progress.stepTo(measured.size());
      }
      mismatches = run.mismatches();
      isAllCached = run.isAllCached();
    }
    report(measured, mismatches, isAllCached);
    return mismatches == 0 ? 0 : 1;
  }

  private void report(List<Measured> measured, long mismatches, boolean isAllCached) {
    output.table(
        List.of("query", "store ms", "Spark's cache ms", "ratio"),
        measured.stream()
            .map(
                query ->
                    List.of(
                        query.query(),
                        decimal(query.storeMillis()),
                        decimal(query.cacheMillis()),
                        decimal(query.ratioToSparkCache())))
            .toList());
    output.line(
        "%,d rows, medians of %d warm rounds%s"
            .formatted(
                rows,
                rounds,
                isAllCached
                    ? ""
                    : "; Spark's cache did NOT hold all rows: give more --executor-memory"));
    Map<String, Object> ratios = new LinkedHashMap<>();
    measured.forEach(query -> ratios.put(query.query(), query.ratioToSparkCache()));
    Map<String, Object> more = new LinkedHashMap<>();
    more.put("rows", rows);
    more.put("lookups", lookups);
    more.put("allRowsCached", isAllCached);
    more.put("ratioToSparkCache", ratios);
    output.finish(mismatches, measured, more);
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
