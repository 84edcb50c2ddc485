// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

/**
 * The source of a cell.
 *
 * @param number number of the cell, as the notebook shows it
 * @param code source
 */
record CellText(int number, String code) {
  /** Returns the place of the line of a character: {@code cell 3, line 2}. */
  String place(int offset) {
    long line = code.substring(0, offset).chars().filter(each -> each == '\n').count() + 1;
    return "cell %d, line %d".formatted(number, line);
  }

  /** Returns the line of a character, without its end. */
  String line(int offset) {
    int end = code.indexOf('\n', offset);
    return code.substring(lineStart(offset), end < 0 ? code.length() : end);
  }

  private int lineStart(int offset) {
    return code.lastIndexOf('\n', offset - 1) + 1;
  }

  /** Returns the lines of a compile error: place and message, the line, and carets below it. */
  String problem(int start, int end, String message) {
    int at = Math.min(start, code.length());
    int column = at - lineStart(at);
    String line = line(at);
    int length = Math.max(1, Math.min(end - start, line.length() - column));
    return "%s, column %d: %s%n%s%n%s%s"
        .formatted(place(at), column + 1, message, line, " ".repeat(column), "^".repeat(length));
  }
}
