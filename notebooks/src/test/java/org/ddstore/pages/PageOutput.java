// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import static java.util.stream.Collectors.joining;

import java.util.List;
import java.util.regex.Pattern;

/**
 * The output that a page shows below a block of code. A line {@code ...} stands for any number of
 * lines.
 *
 * @param text expected output
 * @param differs whether numbers, and the widths of tables around them, differ between runs
 * @param firstLine first of the lines of the file that hold the output, from 0
 * @param lines number of these lines
 * @param indent spaces in front of each line
 */
record PageOutput(String text, boolean differs, int firstLine, int lines, int indent) {
  private static final String ANY_LINES = "...";
  private static final Pattern NUMBER =
      Pattern.compile("\\b(?=[a-f]*\\d)[0-9a-f]{8,}\\b|(?<!\\w)-?\\d[\\d.,]*(?:[eE]-?\\d+)?");
  private static final Pattern RULE = Pattern.compile("-{2,}");

  /** Returns whether the output of a run is the expected one. */
  boolean matches(String actual) {
    String expected =
        normal(text)
            .lines()
            .map(line -> line.equals(ANY_LINES) ? "(?:.*\n)*?" : Pattern.quote(line) + "\n")
            .collect(joining());
    return normal(actual).matches(expected);
  }

  private String normal(String output) {
    String tidy = tidy(output);
    if (differs) {
      tidy = NUMBER.matcher(RULE.matcher(tidy).replaceAll("--")).replaceAll("#").replace(" ", "");
    }
    return tidy.lines().map(line -> line.strip() + "\n").collect(joining());
  }

  /** Removes empty lines around an output, and spaces at the ends of lines. */
  private static String tidy(String output) {
    return output.lines().map(String::stripTrailing).collect(joining("\n")).strip();
  }

  /** Replaces the output in the lines of the page, unless it leaves lines out. */
  void write(List<String> page, String actual) {
    if (text.lines().noneMatch(ANY_LINES::equals)) {
      List<String> old = page.subList(firstLine, firstLine + lines);
      old.clear();
      tidy(actual).lines().forEach(line -> old.add((" ".repeat(indent) + line).stripTrailing()));
    }
  }
}
