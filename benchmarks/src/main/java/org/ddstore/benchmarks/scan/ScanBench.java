// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scan;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Progress;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that compares queries of a resident store with queries of Spark's cache. */
@Command(
    name = "scan",
    mixinStandardHelpOptions = true,
    description = {
      "Loads rows (id, label, value, features float32[8]) into a resident store and into Spark's"
          + " cache, persist(MEMORY_ONLY), on the same executors, and runs the same queries on"
          + " both in turns:",
      "the sum of a column, a filtered count, and a lookup of rows by index.",
      "With --no-shortcut, one of two executors holds all rows of both, and all queries run on the"
          + " other one. Fails if a task ran elsewhere, or if rows or blocks were read from memory."
    })
public final class ScanBench extends Bench {
  private static final int EXECUTORS = 2;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Number of rows; ${DEFAULT-VALUE} by default.")
  private long rows = 10_000_000;

  @Option(
      names = "--lookups",
      paramLabel = "N",
      description = "Rows per lookup; ${DEFAULT-VALUE} by default.")
  private int lookups = 1_000;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measured rounds after three warm-up rounds; ${DEFAULT-VALUE} by default.")
  private int rounds = 9;

  @Option(
      names = "--executor-memory",
      paramLabel = "MB",
      description =
          "Heap of one executor in MiB, which holds Spark's cache; ${DEFAULT-VALUE} by default."
              + " Ignored under spark-submit.")
  private int memoryMb = 3072;

  @Option(
      names = "--no-shortcut",
      description =
          "Read all rows from another executor: those of the store over its transport, in place of"
              + " shared memory, and those of Spark's cache by its block transfer.")
  private boolean noShortcut;

  /**
   * One query.
   *
   * @param query name of the query
   * @param storeMillis median time of the store in milliseconds
   * @param cacheMillis median time of Spark's cache in milliseconds
   * @param ratioToSparkCache time of the store divided by time of the cache
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
    RemoteScan.Reads reads = null;
    try (EmbeddedSpark spark =
            EmbeddedSpark.open("ddstore bench scan", EXECUTORS, 1, memoryMb, Map.of());
        RemoteScan remote = noShortcut ? RemoteScan.reserve(spark.session().sparkContext()) : null;
        ScanRun run =
            ScanRun.load(
                spark.session(),
                rows,
                lookups,
                noShortcut ? RemoteScan::store : UnaryOperator.identity());
        Progress progress = progress(ScanRun.QUERIES.size())) {
      if (remote != null) {
        remote.moveTasks(run);
      }
      for (String query : ScanRun.QUERIES) {
        measured.add(run.measure(query, rounds));
        progress.stepTo(measured.size());
      }
      mismatches = run.mismatches();
      isAllCached = run.isAllCached();
      if (remote != null) {
        reads = remote.verify(run);
      }
    }
    table(
        "query, store ms, Spark's cache ms, ratio",
        measured,
        query ->
            List.of(
                query.query(),
                fixed(2, query.storeMillis()),
                fixed(2, query.cacheMillis()),
                fixed(2, query.ratioToSparkCache())));
    line(
        "%,d rows, medians of %d warm rounds%s",
        rows,
        rounds,
        isAllCached ? "" : "; Spark's cache did NOT hold all rows: increase --executor-memory");
    Map<String, Object> ratios = new LinkedHashMap<>();
    measured.forEach(query -> ratios.put(query.query(), query.ratioToSparkCache()));
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("rows", rows);
    summary.put("lookups", lookups);
    summary.put("allRowsCached", isAllCached);
    summary.put("ratioToSparkCache", ratios);
    if (reads != null) {
      reads.lines().forEach(output::line);
      summary.put("remoteReads", reads);
    }
    for (var query : measured) {
      String subject = "%s of %,d rows".formatted(query.query(), rows);
      figure(
          Figure.of("sql", subject, Figure.DDSTORE, "ms", query.storeMillis())
              .to("Spark's cache", query.cacheMillis()));
      figure(Figure.of("sql", subject, "Spark's cache", "ms", query.cacheMillis()));
    }
    return finish(mismatches, measured, summary);
  }
}
