// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.ddstore.local.Output;
import org.ddstore.local.Progress;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.types.Plural;
import org.ddstore.types.ReadPath;

/** The human-readable report of the demo. */
final class DemoReport {
  private static final double NANOS = 1e9;

  private final Output output;

  /** Lines that are held back until the progress bar has left the terminal. */
  private final List<String> heldLines = new ArrayList<>();

  DemoReport(Output output) {
    this.output = output;
  }

  void addFiles(Path directory, long rows, long nanos) throws IOException {
    try (Stream<Path> walk = Files.list(directory)) {
      List<Path> files = walk.filter(file -> file.toString().endsWith(".parquet")).toList();
      long bytes = 0;
      for (Path file : files) {
        bytes += Files.size(file);
      }
      lineOrHeld(
          "Wrote    %s as %s, %s in total, in %.1f s",
          Plural.of(rows, "row"),
          Plural.of(files.size(), "Parquet file"),
          ByteSize.format(bytes),
          nanos / NANOS);
    }
  }

  void addWarning(String warning) {
    lineOrHeld("WARNING  %s", warning);
  }

  void addQuery(ExpectedRows expected, long nanos) {
    lineOrHeld(
        "Queried  Spark SQL for %s, in %.1f s", Plural.of(expected.size(), "row"), nanos / NANOS);
  }

  /**
   * @param input path of the user's data, or null
   */
  void print(DemoResult result, String input) {
    heldLines.forEach(output::line);
    RankReadings.Summary store = result.store();
    line(
        "Loaded   %s, %s, into %s in %.1f s (%,d rows/s)",
        Plural.of(store.rows(), "row"),
        ByteSize.format(store.bytes()),
        Plural.of(result.executors(), "executor"),
        result.loadSeconds(),
        result.ingestRowsPerSecond());
    output.table(
        "field, type",
        store.fields().stream().map(field -> List.of(field.field(), field.type())).toList());
    output.table(
        "rank, exec, rows, bytes, read, own, host, remote, single, batch, wrong",
        result.ranks().stream().map(DemoReport::cells).toList());
    line("(read: rows; own, host, remote: shares of paths; single, batch: µs per row)");
    line("Read     %,d random rows: %s", result.rowsRead(), shares(result));
    line(
        "Speed    %.2f µs/row singly, %.2f µs/row in batches (one rank at a time)",
        result.singleMicrosPerRow(), result.batchMicrosPerRow());
    line("Digest   %s, independent of the number of ranks", result.digest());
    line(
        "Checked  %,d mismatches in %,d rows read, every byte compared with Spark SQL",
        result.mismatches(), result.rowsRead());
    for (RankReadings rank : result.ranks()) {
      if (rank.firstMismatch() >= 0) {
        line("         rank %d: first mismatch at row %,d", rank.rank(), rank.firstMismatch());
      }
    }
    line(
        input == null
            ? "Next     ./ddstore explain YOUR.parquet, then ./ddstore demo YOUR.parquet"
            : "Next     ./ddstore get " + input + " --indices 0,1,2");
  }

  private static List<Object> cells(RankReadings rank) {
    List<RankReadings> alone = List.of(rank);
    return List.of(
        rank.rank(),
        rank.executor(),
        rank.info().ownRows(),
        ByteSize.format(rank.info().ownBytes()),
        rank.rowsRead(),
        percent(DemoResult.share(ReadPath.OWN_PROCESS, alone)),
        percent(DemoResult.share(ReadPath.SAME_HOST, alone)),
        percent(DemoResult.share(ReadPath.REMOTE, alone)),
        decimal(rank.single().microsPerRow()),
        decimal(rank.batches().microsPerRow()),
        rank.mismatches());
  }

  private static String shares(DemoResult result) {
    return "%s own process, %s same host, %s remote"
        .formatted(
            percent(result.share(ReadPath.OWN_PROCESS)),
            percent(result.share(ReadPath.SAME_HOST)),
            percent(result.share(ReadPath.REMOTE)));
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private void lineOrHeld(String format, Object... values) {
    if (Progress.isTerminal()) {
      heldLines.add(String.format(Locale.ROOT, format, values));
    } else {
      line(format, values);
    }
  }

  private void line(String format, Object... values) {
    output.line(String.format(Locale.ROOT, format, values));
  }
}
