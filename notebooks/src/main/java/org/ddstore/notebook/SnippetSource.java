// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.ArrayList;
import java.util.List;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.SourceCodeAnalysis.Completeness;
import jdk.jshell.SourceCodeAnalysis.CompletionInfo;

/**
 * A part of a cell that JShell evaluates separately: a statement, a declaration or an expression.
 *
 * @param text source, perhaps with a semicolon that the cell lacks
 * @param offset position of the source in the cell
 * @param completeness whether the part can be evaluated; only the last one of a cell may be
 *     incomplete or illegal
 */
record SnippetSource(String text, int offset, Completeness completeness) {
  /** Splits a cell. */
  static List<SnippetSource> split(SourceCodeAnalysis analysis, String code) {
    List<SnippetSource> parts = new ArrayList<>();
    String rest = code;
    while (!new JavaText(rest).isBlank()) {
      int offset = code.length() - rest.length();
      CompletionInfo info = analysis.analyzeCompletion(rest);
      boolean isLast = !isLegal(info.completeness());
      parts.add(new SnippetSource(isLast ? rest : info.source(), offset, info.completeness()));
      rest = isLast ? "" : info.remaining();
    }
    return parts;
  }

  private static boolean isLegal(Completeness completeness) {
    return completeness.isComplete() && completeness != Completeness.UNKNOWN;
  }

  /** Returns whether the part is legal code as far as its syntax goes. */
  boolean isLegal() {
    return isLegal(completeness);
  }

  /** Returns whether a semicolon ends the part: the value of such an expression is not shown. */
  boolean endsWithSemicolon() {
    return new JavaText(text).lastCharacter() == ';';
  }
}
