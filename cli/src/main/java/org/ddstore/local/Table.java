// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.Help.ColorScheme;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;

/** Text tables. Columns of numbers are right-aligned; long cells continue on the next line. */
final class Table {
  private static final int MAX_COLUMN_CHARS = 90;
  private static final int GAP_CHARS = 2;
  private static final ColorScheme SCHEME = Help.defaultColorScheme(Ansi.OFF);

  private Table() {}

  /**
   * Returns the text of a table, without a line break at its end.
   *
   * @param rows rows with one value per header; null is shown as a dash
   */
  static String of(List<String> headers, List<? extends List<?>> rows) {
    int columns = headers.size();
    Column[] layout = new Column[columns];
    List<String> titles = new ArrayList<>();
    List<String> rules = new ArrayList<>();
    for (int i = 0; i < columns; i++) {
      int width = width(headers, rows, i);
      int gap = i == 0 ? 0 : GAP_CHARS;
      layout[i] = new Column(width + gap, gap, Overflow.WRAP);
      titles.add(isNumeric(rows, i) ? padLeft(headers.get(i), width) : headers.get(i));
      rules.add("-".repeat(width));
    }
    TextTable table = TextTable.forColumns(SCHEME, layout);
    table.indentWrappedLines = 0;
    add(table, titles);
    add(table, rules);
    for (List<?> row : rows) {
      List<String> cells = new ArrayList<>();
      for (int i = 0; i < columns; i++) {
        String text = text(row.get(i));
        cells.add(isNumeric(rows, i) ? padLeft(text, rules.get(i).length()) : text);
      }
      add(table, cells);
    }
    return table.toString().stripTrailing();
  }

  private static int width(List<String> headers, List<? extends List<?>> rows, int column) {
    int width = headers.get(column).length();
    for (List<?> row : rows) {
      width =
          Math.max(width, text(row.get(column)).lines().mapToInt(String::length).max().orElse(0));
    }
    return Math.min(width, MAX_COLUMN_CHARS);
  }

  private static boolean isNumeric(List<? extends List<?>> rows, int column) {
    return !rows.isEmpty() && rows.stream().allMatch(row -> row.get(column) instanceof Number);
  }

  private static String text(Object value) {
    return Objects.requireNonNullElse(value, "-").toString();
  }

  private static String padLeft(String text, int width) {
    return " ".repeat(width - text.length()) + text;
  }

  /** Adds a row, with each cell as it is: picocli's markup in a user's data is not interpreted. */
  private static void add(TextTable table, List<String> row) {
    List<List<String>> cells = row.stream().map(cell -> cell.lines().toList()).toList();
    int height = Math.max(1, cells.stream().mapToInt(List::size).max().orElse(1));
    for (int line = 0; line < height; line++) {
      Text[] texts = new Text[cells.size()];
      for (int i = 0; i < texts.length; i++) {
        List<String> lines = cells.get(i);
        texts[i] = SCHEME.apply(line < lines.size() ? lines.get(line) : "", List.of());
      }
      table.addRowValues(texts);
    }
  }
}
