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

/**
 * Text tables of at most {@link #WIDTH} characters. Columns of numbers are right-aligned; long text
 * continues on the next line. A table that is still too wide is turned: its columns become lines.
 */
final class Table {
  /** Width of a terminal that nobody has made larger. */
  static final int WIDTH = 80;

  /** Width below which no column of text is wrapped. */
  private static final int MIN_TEXT_CHARS = 24;

  private static final int GAP_CHARS = 2;
  private static final ColorScheme SCHEME = Help.defaultColorScheme(Ansi.OFF);

  private Table() {}

  /**
   * Returns the text of a table, without a line break at its end.
   *
   * @param rows rows with one value per header; null is shown as a dash
   */
  static String of(List<String> headers, List<? extends List<?>> rows) {
    List<Integer> widths = fit(widths(headers, rows), headers, rows);
    return total(widths) <= WIDTH || rows.isEmpty()
        ? print(headers, rows, widths)
        : turned(headers, rows);
  }

  /** Returns tables of as many rows as fit beside each other, each in a column. */
  private static String turned(List<String> headers, List<? extends List<?>> rows) {
    List<String> parts = new ArrayList<>();
    int from = 0;
    while (from < rows.size()) {
      int end = rows.size();
      while (end > from + 1 && total(widths(turn(headers, rows.subList(from, end)))) > WIDTH) {
        end--;
      }
      List<List<String>> lines = turn(headers, rows.subList(from, end));
      List<String> titles = lines.get(0);
      List<List<String>> body = lines.subList(1, lines.size());
      parts.add(print(titles, body, fit(widths(lines), titles, body)));
      from = end;
    }
    return String.join("\n\n", parts);
  }

  private static List<List<String>> turn(List<String> headers, List<? extends List<?>> rows) {
    List<List<String>> lines = new ArrayList<>();
    for (int i = 0; i < headers.size(); i++) {
      List<String> line = new ArrayList<>(List.of(headers.get(i)));
      for (List<?> row : rows) {
        line.add(text(row.get(i)));
      }
      lines.add(line);
    }
    return lines;
  }

  private static String print(
      List<String> headers, List<? extends List<?>> rows, List<Integer> widths) {
    Column[] layout = new Column[headers.size()];
    List<String> titles = new ArrayList<>();
    List<String> rules = new ArrayList<>();
    for (int i = 0; i < layout.length; i++) {
      int width = widths.get(i);
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
      for (int i = 0; i < layout.length; i++) {
        String text = text(row.get(i));
        cells.add(isNumeric(rows, i) ? padLeft(text, widths.get(i)) : text);
      }
      add(table, cells);
    }
    return table.toString().stripTrailing();
  }

  /** Returns widths of which those of long texts are reduced, as far as they can be. */
  private static List<Integer> fit(
      List<Integer> natural, List<String> headers, List<? extends List<?>> rows) {
    List<Integer> widths = new ArrayList<>(natural);
    for (int excess = total(widths) - WIDTH; excess > 0; excess = total(widths) - WIDTH) {
      int widest = -1;
      for (int i = 0; i < widths.size(); i++) {
        if (!isNumeric(rows, i)
            && widths.get(i) > Math.max(MIN_TEXT_CHARS, headers.get(i).length())
            && (widest < 0 || widths.get(i) > widths.get(widest))) {
          widest = i;
        }
      }
      if (widest < 0) {
        break;
      }
      int least = Math.max(MIN_TEXT_CHARS, headers.get(widest).length());
      widths.set(widest, Math.max(least, widths.get(widest) - excess));
    }
    return widths;
  }

  private static int total(List<Integer> widths) {
    return widths.stream().mapToInt(width -> width + GAP_CHARS).sum() - GAP_CHARS;
  }

  private static List<Integer> widths(List<List<String>> lines) {
    return widths(lines.get(0), lines.subList(1, lines.size()));
  }

  private static List<Integer> widths(List<String> headers, List<? extends List<?>> rows) {
    List<Integer> widths = new ArrayList<>();
    for (int i = 0; i < headers.size(); i++) {
      int width = headers.get(i).length();
      for (List<?> row : rows) {
        width = Math.max(width, text(row.get(i)).lines().mapToInt(String::length).max().orElse(0));
      }
      widths.add(width);
    }
    return widths;
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
