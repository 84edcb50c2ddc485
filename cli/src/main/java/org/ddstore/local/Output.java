// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The output of a command, as a mixin: human-readable lines and tables or, with {@code --json}, a
 * single JSON object.
 */
public final class Output {
  /** The option that adds the stack trace to an error. */
  public static final String VERBOSE = "--verbose";

  @Option(
      names = "--json",
      description = "Print one JSON object as the last line, instead of tables.")
  private boolean isJson;

  @SuppressWarnings("UnusedVariable") // The handlers of the parser read it.
  @Option(names = VERBOSE, description = "Show the stack trace of an error.")
  private boolean isVerbose;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Returns whether the user asks for a JSON object instead of text. */
  public boolean isJson() {
    return isJson;
  }

  /** Returns what the JSON object says of this machine. */
  public Object machine() {
    return Machine.ofThisHost();
  }

  /** Prints a line, except with {@code --json}; on a terminal a mark at its begin has a colour. */
  public void line(String text) {
    if (!isJson) {
      out().println(Colour.of(Progress.isTerminal(1) ? wrapped(text) : text));
      out().flush();
    }
  }

  /** Prints a text that a reader copies as it is, except with {@code --json}. */
  public void verbatim(String text) {
    if (!isJson) {
      out().println(text);
      out().flush();
    }
  }

  /**
   * Prints a table of at most 80 characters, except with {@code --json}; numbers are right-aligned.
   *
   * @param headers headers, separated by a comma and a space
   * @param rows rows with one value per header; null is shown as a dash
   */
  public void table(String headers, List<? extends List<?>> rows) {
    if (!isJson) {
      out().println(Table.of(List.of(headers.split(", ", -1)), rows));
      out().println();
      out().flush();
    }
  }

  /**
   * Prints a table whose rows have the name of an owner in front, such as an executor: equal rows
   * are printed once, with the names of all owners.
   *
   * @param headers headers, separated by a comma and a space; the first is that of the owners
   */
  public void tableByOwner(String headers, List<? extends List<?>> rows) {
    Map<List<?>, List<Object>> byCells = new LinkedHashMap<>();
    for (List<?> row : rows) {
      byCells
          .computeIfAbsent(row.subList(1, row.size()), cells -> new ArrayList<>())
          .add(row.get(0));
    }
    List<List<Object>> merged = new ArrayList<>();
    byCells.forEach(
        (cells, owners) -> {
          List<Object> row = new ArrayList<>();
          row.add(owners.stream().map(Object::toString).collect(Collectors.joining(", ")));
          row.addAll(cells);
          merged.add(row);
        });
    table(headers, merged);
  }

  /**
   * Finishes the output of the command; with {@code --json}, prints the object on one line.
   *
   * @param mismatches number of wrong results found by checks
   * @param results rows of the main table, as objects
   * @param more further keys, in output order
   */
  public void finish(long mismatches, List<?> results, Map<String, ?> more) {
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

  /** Returns a text in lines that fit a terminal, continued below what follows its first word. */
  static String wrapped(String text) {
    int indent =
        text.matches("[A-Za-z]+ {2,}.*") ? text.replaceFirst("^(\\w+ +).*", "$1").length() : 2;
    StringBuilder lines = new StringBuilder();
    String rest = text;
    while (rest.length() > Table.WIDTH) {
      int space = rest.lastIndexOf(' ', Table.WIDTH);
      if (space <= indent) {
        break; // one long word, such as a path
      }
      lines.append(rest, 0, space).append('\n');
      rest = " ".repeat(indent) + rest.substring(space + 1);
    }
    return lines.append(rest).toString();
  }

  private PrintWriter out() {
    return command.commandLine().getOut();
  }
}
