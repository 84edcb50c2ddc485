// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  public void line(String text) {
    if (!isJson) {
      out().println(text);
      out().flush();
    }
  }

  /**
   * Prints a table, except with {@code --json}; numbers are right-aligned.
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

  private PrintWriter out() {
    return command.commandLine().getOut();
  }
}
