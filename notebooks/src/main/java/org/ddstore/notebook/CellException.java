// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.ddstore.notebook.classes.CellNames;

/** Thrown if a cell cannot be compiled, or its code fails or is interrupted. */
public final class CellException extends Exception {
  private static final long serialVersionUID = 1L;

  /** A stack that Spark puts into the message of an exception. */
  private static final String STACK_IN_MESSAGE =
      "(?s)\\n+(\\tat |Driver stacktrace:|Serialization stack:).*";

  private static final int MAX_LINES = 40;
  private static final int MAX_CAUSES = 20;

  private final String name;
  private final List<String> report;

  /** Creates an exception whose message is the first line of the report. */
  CellException(String name, String report, Throwable cause) {
    super(report.lines().findFirst().orElse(name), cause);
    this.name = name;
    this.report = report.lines().toList();
  }

  /**
   * Returns the exception for a failure of code. The report has its message, its frames in cells,
   * and its causes in the same form.
   *
   * @param frames returns the line of a frame in a cell; empty for other code
   */
  static CellException of(Throwable failure, Function<StackTraceElement, Optional<String>> frames) {
    Set<String> report = new LinkedHashSet<>();
    Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .limit(MAX_CAUSES)
        .forEach(
            each -> {
              String type = CellNames.userName(each.getClass().getName());
              String title = each.getMessage() == null ? type : type + ": " + each.getMessage();
              (each == failure ? title : "Caused by: " + title)
                  .replaceFirst(STACK_IN_MESSAGE, "")
                  .lines()
                  .limit(MAX_LINES)
                  .forEach(report::add);
              Stream.of(each.getStackTrace())
                  .flatMap(frame -> frames.apply(frame).stream())
                  .limit(MAX_LINES)
                  .forEach(line -> report.add("    " + line));
            });
    return new CellException(
        failure.getClass().getSimpleName(), String.join("\n", report), failure);
  }

  /** Returns the short name of the kind of error, such as {@code ArithmeticException}. */
  public String name() {
    return name;
  }

  /** Returns the lines for the user: what failed, where in which cell, and the causes. */
  public List<String> report() {
    return report;
  }
}
