package org.ddstore.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A table of text with borders. Columns of numbers are right-aligned; long cells continue on the
 * next line. Values are printed as they are: picocli's table would interpret markup in them.
 */
final class Table {
  private static final int MAX_COLUMN_CHARS = 90;

  private final int[] widths;
  private final boolean[] numeric;
  private final StringBuilder text = new StringBuilder();

  private Table(int columns) {
    this.widths = new int[columns];
    this.numeric = new boolean[columns];
    Arrays.fill(numeric, true);
  }

  /**
   * Returns the text of a table, without a line break at its end.
   *
   * @param rows rows with one value per header; null is shown as a dash
   */
  static String of(List<String> headers, List<? extends List<?>> rows) {
    Table table = new Table(headers.size());
    List<List<List<String>>> lines = new ArrayList<>();
    lines.add(table.measure(headers));
    for (List<?> row : rows) {
      lines.add(table.measure(row));
      for (int i = 0; i < table.numeric.length; i++) {
        table.numeric[i] &= row.get(i) instanceof Number;
      }
    }
    table.border();
    table.row(lines.get(0), false);
    table.border();
    lines.subList(1, lines.size()).forEach(row -> table.row(row, true));
    table.border();
    return table.text.toString().stripTrailing();
  }

  /** Returns the lines of each cell of a row, and widens the columns to hold them. */
  private List<List<String>> measure(List<?> row) {
    List<List<String>> cells = new ArrayList<>();
    for (int i = 0; i < widths.length; i++) {
      List<String> lines = wrap(Objects.requireNonNullElse(row.get(i), "-").toString());
      for (String line : lines) {
        widths[i] = Math.max(widths[i], line.length());
      }
      cells.add(lines);
    }
    return cells;
  }

  /** Splits a text at its line breaks, and longer lines at the last space that fits. */
  private static List<String> wrap(String cell) {
    List<String> lines = new ArrayList<>();
    for (String line : cell.split("\n", -1)) {
      String rest = line;
      while (rest.length() > MAX_COLUMN_CHARS) {
        int space = rest.lastIndexOf(' ', MAX_COLUMN_CHARS);
        int end = space > 0 ? space : MAX_COLUMN_CHARS;
        lines.add(rest.substring(0, end));
        rest = rest.substring(space > 0 ? end + 1 : end);
      }
      lines.add(rest);
    }
    return lines;
  }

  private void border() {
    for (int width : widths) {
      text.append('+').append("-".repeat(width + 2));
    }
    text.append("+\n");
  }

  private void row(List<List<String>> cells, boolean isData) {
    int height = cells.stream().mapToInt(List::size).max().orElse(1);
    for (int line = 0; line < height; line++) {
      for (int i = 0; i < widths.length; i++) {
        String cell = line < cells.get(i).size() ? cells.get(i).get(line) : "";
        String padding = " ".repeat(widths[i] - cell.length());
        text.append("| ")
            .append(isData && numeric[i] ? padding + cell : cell + padding)
            .append(' ');
      }
      text.append("|\n");
    }
  }
}
