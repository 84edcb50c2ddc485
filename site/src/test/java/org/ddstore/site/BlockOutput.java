// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The output that a page shows below a block of code. A line {@code ...} stands for any number of
 * lines.
 *
 * @param text expected output; empty if {@code isMissing}
 * @param differs whether numbers, and the widths of the tables around them, differ between runs
 * @param isMissing whether the page has only a place for the output
 * @param firstLine first of the lines of the file that hold the output, from 0
 * @param lines number of these lines
 * @param indent spaces in front of each line
 */
record BlockOutput(
    String text, boolean differs, boolean isMissing, int firstLine, int lines, int indent) {
  private static final String ANY_LINES = "...";
  private static final Pattern NUMBER =
      Pattern.compile("\\b(?=[a-f]*\\d)[0-9a-f]{8,}\\b|(?<!\\w)-?\\d[\\d.,]*(?:[eE]-?\\d+)?");
  private static final Pattern RULE = Pattern.compile("-{2,}");

  /** Returns whether the output of a run is the expected one. */
  boolean matches(String actual) {
    Pattern expected =
        Pattern.compile(
            normal(text)
                .lines()
                .map(line -> line.equals(ANY_LINES) ? "(?:.*\n)*?" : Pattern.quote(line) + "\n")
                .collect(Collectors.joining()));
    return !isMissing && expected.matcher(normal(actual)).matches();
  }

  /** Returns whether the lines of the page can be replaced by the output of a run. */
  boolean isReplaceable() {
    return text.lines().noneMatch(line -> line.equals(ANY_LINES));
  }

  private String normal(String output) {
    String tidy = tidy(output);
    if (differs) {
      tidy = NUMBER.matcher(RULE.matcher(tidy).replaceAll("--")).replaceAll("#").replace(" ", "");
    }
    return tidy.lines().map(line -> line.strip() + "\n").collect(Collectors.joining());
  }

  /** Removes empty lines around an output, and spaces at the ends of lines. */
  private static String tidy(String output) {
    return output.lines().map(String::stripTrailing).collect(Collectors.joining("\n")).strip();
  }

  /** Replaces the output in the lines of the page. */
  void write(List<String> page, String actual) {
    List<String> block = new ArrayList<>(tidy(actual).lines().toList());
    if (isMissing) {
      block.add(0, "```text");
      block.add("```");
    }
    block.replaceAll(line -> (" ".repeat(indent) + line).stripTrailing());
    List<String> old = page.subList(firstLine, firstLine + lines);
    old.clear();
    old.addAll(block);
  }
}
