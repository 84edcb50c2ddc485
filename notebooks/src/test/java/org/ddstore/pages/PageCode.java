// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The code of a section of a page. */
final class PageCode {
  private static final Pattern IN_SENTENCE = Pattern.compile("(?s)(`+)(.+?)\\1(?!`)");
  private static final Pattern FIRST_CELL = Pattern.compile("\\|((?:[^|\\\\]|\\\\.)*)\\|.*");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");

  private final List<String> blocks = new ArrayList<>();
  private final StringBuilder text = new StringBuilder();
  private final List<String> firstCells = new ArrayList<>();
  private boolean isInTable;

  /** Adds a block of code. */
  void add(String code) {
    blocks.add(code);
  }

  /** Adds a line of a sentence or a table. */
  void addLine(String line) {
    var cell = FIRST_CELL.matcher(line);
    if (!cell.matches()) {
      isInTable = false;
    } else if (isInTable) {
      firstCells.add(cell.group(1));
    } else {
      isInTable = line.startsWith("|-");
    }
    text.append(isInTable ? "\n\n" : "\n").append(line);
  }

  private static Stream<String> code(String text) {
    return Stream.of(text.split("\n\n"))
        .flatMap(part -> IN_SENTENCE.matcher(part).results())
        .map(code -> code.group(2).replace("\\|", "|").replace('\n', ' '));
  }

  List<String> code() {
    return Stream.concat(blocks.stream(), code(text.toString())).toList();
  }

  /** Returns the code in the first cells of the rows of tables. */
  List<String> firstCells() {
    return firstCells.stream().flatMap(PageCode::code).toList();
  }

  List<String> links() {
    return LINK.matcher(text).results().map(link -> link.group(1)).toList();
  }
}
