// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.ddstore.cli.RankReadings.FieldText;
import org.ddstore.local.Output;
import org.ddstore.spark.Explanation;
import org.ddstore.spark.Explanation.Path;
import org.ddstore.spark.Explanation.Rank;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.types.Plural;

/** The report of {@link ExplainCommand}: its lines, tables and JSON objects. */
final class ExplainReport {
  private static final int MAX_MATRIX_CHARS = 80;

  private final Explanation explanation;

  ExplainReport(Explanation explanation) {
    this.explanation = explanation;
  }

  void print(String input, Output output) {
    output.line(
        String.format(
            Locale.ROOT,
            "%s: %s, %s%s, loaded by %s",
            input,
            Plural.of(explanation.rows(), "row"),
            ByteSize.format(explanation.bytes()),
            explanation.exactBytes() ? "" : " (from a sample of rows)",
            explanation.route()));
    output.table(
        "field, type",
        FieldText.of(explanation.schema()).stream()
            .map(field -> List.of(field.field(), field.type()))
            .toList());
    output.table(
        "rank, group, executor, first row, rows, bytes",
        explanation.ranks().stream()
            .map(
                rank ->
                    List.<Object>of(
                        rank.rank(),
                        rank.group(),
                        rank.executor(),
                        rank.firstRow(),
                        rank.rows(),
                        ByteSize.format(rank.bytes())))
            .toList());
    output.table(
        "executor, host, ranks, needs, segments in, free, heap, container, locked memory",
        executors().values().stream().map(ExplainReport::memory).toList());
    printPaths(output);
    output.line("Transport of rows not reachable through memory: " + explanation.transport());
    printDevices(output);
    explanation.warnings().forEach(warning -> output.line("WARNING  " + warning));
    explanation
        .problems()
        .forEach(problem -> output.line("PROBLEM  " + problem.missing() + ": " + problem.remedy()));
    output.line(
        "Next     "
            + (explanation.problems().isEmpty()
                ? "./ddstore demo %s loads the rows and checks every byte".formatted(input)
                : "do what the PROBLEM lines name, then explain again"));
  }

  /**
   * Prints the device of the ranks and how batches reach it; ranks with equal lines are grouped.
   */
  private void printDevices(Output output) {
    Map<String, List<Rank>> alike =
        explanation.ranks().stream()
            .collect(
                Collectors.groupingBy(
                    rank ->
                        "device: %s; batches of loaders: %s"
                            .formatted(rank.device(), rank.batches()),
                    LinkedHashMap::new,
                    Collectors.toList()));
    alike.forEach((text, ranks) -> output.line("Ranks %s: %s".formatted(numbers(ranks), text)));
  }

  private static String numbers(List<Rank> ranks) {
    return ranks.stream().map(rank -> "" + rank.rank()).collect(Collectors.joining(", "));
  }

  private Map<String, List<Rank>> executors() {
    return explanation.ranks().stream()
        .collect(Collectors.groupingBy(Rank::executor, TreeMap::new, Collectors.toList()));
  }

  private static List<Object> memory(List<Rank> ranks) {
    HostFacts host = ranks.get(0).host();
    return List.of(
        ranks.get(0).executor(),
        "%s (pid %d)".formatted(host.hostName(), host.pid()),
        numbers(ranks),
        ByteSize.format(ranks.stream().mapToLong(Rank::bytes).sum()),
        host.sharedMemoryPath(),
        bytesOr(host.sharedMemoryFreeBytes(), "not available"),
        ByteSize.format(host.maxHeapBytes()),
        bytesOr(host.containerLimitBytes(), "no limit"),
        bytesOr(host.lockedMemorySoftBytes(), "unlimited"));
  }

  private static String bytesOr(Long bytes, String none) {
    return bytes == null ? none : ByteSize.format(bytes);
  }

  /** Prints a letter for each pair of ranks, then the meaning and reason of each letter. */
  private void printPaths(Output output) {
    Map<String, String> letters = new LinkedHashMap<>();
    StringBuilder matrix = new StringBuilder();
    int ranks = explanation.ranks().size();
    String[][] cells = new String[ranks][ranks];
    for (Path path : explanation.paths()) {
      String letter = letters.computeIfAbsent(path.path(), text -> letter(text, letters));
      cells[path.reader()][path.owner()] = letter;
    }
    int width = Integer.toString(ranks - 1).length();
    if ((ranks + 1) * (width + 1) > MAX_MATRIX_CHARS) {
      letters.keySet().forEach(path -> output.line("%s: %s".formatted(path, reason(path))));
      return;
    }
    output.line("Path over which rank (row) reads the rows of rank (column):");
    matrix.append(" ".repeat(width));
    for (int owner = 0; owner < ranks; owner++) {
      matrix.append(' ').append(" ".repeat(width - Integer.toString(owner).length())).append(owner);
    }
    output.line(matrix.toString());
    for (int reader = 0; reader < ranks; reader++) {
      StringBuilder line = new StringBuilder(("%" + width + "d").formatted(reader));
      for (int owner = 0; owner < ranks; owner++) {
        String cell = cells[reader][owner] == null ? "." : cells[reader][owner];
        line.append(" ".repeat(width)).append(cell);
      }
      output.line(line.toString());
    }
    letters.forEach(
        (path, letter) -> output.line("%s = %s: %s".formatted(letter, path, reason(path))));
  }

  /** Returns why pairs of ranks read over a path: the first reason and the number of others. */
  private String reason(String path) {
    List<String> reasons =
        explanation.paths().stream()
            .filter(found -> found.path().equals(path))
            .map(Path::reason)
            .distinct()
            .toList();
    return reasons.size() == 1
        ? reasons.get(0)
        : "%s; and %s".formatted(reasons.get(0), Plural.of(reasons.size() - 1, "similar reason"));
  }

  private static String letter(String path, Map<String, String> taken) {
    for (char c : (path + "abcdefghijklmnopqrstuvwxyz").toCharArray()) {
      String letter = Character.toString(c);
      if (Character.isLetter(c) && !taken.containsValue(letter)) {
        return letter;
      }
    }
    throw new IllegalStateException("more paths than letters: " + taken);
  }

  static List<Rank> results(Explanation explanation) {
    return explanation.ranks();
  }

  static Map<String, Object> summary(Explanation explanation) {
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("rows", explanation.rows());
    summary.put("bytes", explanation.bytes());
    summary.put("exactBytes", explanation.exactBytes());
    summary.put("fields", FieldText.of(explanation.schema()));
    summary.put("route", explanation.route());
    summary.put("warnings", new ArrayList<>(explanation.warnings()));
    summary.put("problems", explanation.problems());
    summary.put("width", explanation.width());
    summary.put("transport", explanation.transport());
    summary.put("paths", explanation.paths());
    return summary;
  }
}
