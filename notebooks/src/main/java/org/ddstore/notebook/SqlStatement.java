// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One of the SQL statements of a cell.
 *
 * @param text statement without the semicolon after it; comments are those of the cell
 * @param offset position of the statement in the cell
 */
record SqlStatement(String text, int offset) {
  private static final Pattern TOKEN =
      Pattern.compile(
          "(?<comment>--[^\\n]*|/\\*(?s:.*?)\\*/)"
              + "|'(?s:\\\\.|[^'\\\\])*'|\"(?s:\\\\.|[^\"\\\\])*\"|`[^`]*`"
              + "|(?<end>;)|\\s|(?<code>\\S)");

  /** The place in messages of Spark: line from 1, position in it from 0. */
  private static final Pattern PLACE = Pattern.compile("line (\\d+),? pos (\\d+)");

  /** Splits what follows a position of a cell at its semicolons. */
  static List<SqlStatement> split(String code, int start) {
    List<SqlStatement> statements = new ArrayList<>();
    Matcher token = TOKEN.matcher(code);
    int first = -1;
    for (int at = start; token.find(at); at = token.end()) {
      if (token.group("end") != null) {
        add(statements, code, first, token.start());
        first = -1;
      } else if (first < 0 && token.group("comment") == null && !token.group().isBlank()) {
        first = token.start();
      }
    }
    add(statements, code, first, code.length());
    return statements;
  }

  private static void add(List<SqlStatement> statements, String code, int first, int end) {
    if (first >= 0) {
      statements.add(new SqlStatement(code.substring(first, end).stripTrailing(), first));
    }
  }

  /** Returns the position in the cell that a failure of Spark names, or that of the statement. */
  int offset(Throwable failure) {
    Matcher place = PLACE.matcher(String.valueOf(failure.getMessage()));
    if (!place.find()) {
      return offset;
    }
    int start = 0;
    for (int line = 1; line < Integer.parseInt(place.group(1)); line++) {
      start = text.indexOf('\n', start) + 1;
    }
    return offset + Math.min(start + Integer.parseInt(place.group(2)), text.length());
  }
}
