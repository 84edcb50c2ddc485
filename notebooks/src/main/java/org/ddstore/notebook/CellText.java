// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

/**
 * The source of a cell.
 *
 * @param number number of the cell, as the notebook shows it
 * @param code source
 */
record CellText(int number, String code) {
  /** Returns the place of a character, with numbers from 1: {@code cell 3, line 2, column 5}. */
  String place(int offset) {
    int start = lineStart(offset);
    return "%s, column %d".formatted(linePlace(offset), within(offset) - start + 1);
  }

  /** Returns the place of the line of a character: {@code cell 3, line 2}. */
  String linePlace(int offset) {
    long line = code.substring(0, within(offset)).chars().filter(each -> each == '\n').count() + 1;
    return "cell %d, line %d".formatted(number, line);
  }

  /** Returns the line of a character, without its end. */
  String line(int offset) {
    int end = code.indexOf('\n', within(offset));
    return code.substring(lineStart(offset), end < 0 ? code.length() : end);
  }

  /** Returns a line of carets below the characters from {@code start} to {@code end}. */
  String carets(int start, int end) {
    String line = line(start);
    int column = within(start) - lineStart(start);
    int length = Math.max(1, Math.min(end - start, line.length() - column));
    String indent = line.substring(0, column).replaceAll("[^\t]", " ");
    return indent + "^".repeat(length);
  }

  private int lineStart(int offset) {
    return code.lastIndexOf('\n', within(offset) - 1) + 1;
  }

  private int within(int offset) {
    return Math.max(0, Math.min(offset, code.length()));
  }
}
