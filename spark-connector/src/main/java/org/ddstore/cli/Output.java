package org.ddstore.cli;

import com.github.freva.asciitable.AsciiTable;
import com.github.freva.asciitable.Column;
import com.github.freva.asciitable.HorizontalAlign;
import com.github.freva.asciitable.OverflowBehaviour;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The output of a command, as a mixin: human-readable lines and tables or, with {@code --json}, a
 * single JSON object.
 */
final class Output {
  /** The option that enables stack traces; see {@link Main}. */
  static final String VERBOSE = "--verbose";

  private static final int MAX_COLUMN_CHARS = 90;

  @Option(
      names = "--json",
      description = "Print one JSON object as the last line, instead of tables.")
  private boolean isJson;

  @SuppressWarnings("UnusedVariable") // Main reads it from the parser.
  @Option(names = VERBOSE, description = "Show the stack trace of an error.")
  private boolean isVerbose;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Prints a line, except with {@code --json}. */
  void line(String text) {
    if (!isJson) {
      out().println(text);
      out().flush();
    }
  }

  /**
   * Prints a table, except with {@code --json}; numbers are right-aligned.
   *
   * @param rows rows with one value per header; null is shown as a dash
   */
  void table(List<String> headers, List<? extends List<?>> rows) {
    if (isJson) {
      return;
    }
    Column[] columns = new Column[headers.size()];
    for (int i = 0; i < columns.length; i++) {
      int column = i;
      boolean isNumeric = rows.stream().allMatch(row -> row.get(column) instanceof Number);
      columns[i] =
          new Column()
              .header(headers.get(i))
              .headerAlign(HorizontalAlign.LEFT)
              .dataAlign(isNumeric ? HorizontalAlign.RIGHT : HorizontalAlign.LEFT)
              .maxWidth(MAX_COLUMN_CHARS, OverflowBehaviour.NEWLINE);
    }
    Object[][] cells =
        rows.stream()
            .map(row -> row.stream().map(cell -> Objects.requireNonNullElse(cell, "-")).toArray())
            .toArray(Object[][]::new);
    out().println(AsciiTable.getTable(AsciiTable.BASIC_ASCII_NO_DATA_SEPARATORS, columns, cells));
    out().flush();
  }

  /**
   * Finishes the output of the command; with {@code --json}, prints the object on one line.
   *
   * @param mismatches number of wrong results found by checks
   * @param results rows of the main table, as objects
   * @param more further keys, in output order
   */
  void finish(long mismatches, List<?> results, Map<String, ?> more) {
    if (isJson) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("command", command.name());
      object.put("machine", Machine.ofThisHost());
      object.put("mismatches", mismatches);
      object.put("results", results);
      object.putAll(more);
      out().println(Json.write(object));
      out().flush();
    }
  }

  private PrintWriter out() {
    return command.commandLine().getOut();
  }
}
