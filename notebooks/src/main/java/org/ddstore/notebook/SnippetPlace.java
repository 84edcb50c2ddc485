// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.Arrays;
import jdk.jshell.Snippet;
import jdk.jshell.SourceCodeAnalysis.SnippetWrapper;

/**
 * The place of an evaluated snippet in a cell.
 *
 * @param cell the cell
 * @param part the part of the cell that the snippet was made of
 * @param snippet the snippet
 * @param offsets position in the cell of each line of the class that JShell has put around the
 *     snippet; stack frames name these lines, from 1
 */
@SuppressWarnings("ArrayRecordComponent") // compared nowhere
record SnippetPlace(CellText cell, SnippetSource part, Snippet snippet, int... offsets) {
  /**
   * Returns the place of a snippet that was compiled. Later imports move the lines of the class.
   */
  static SnippetPlace of(
      CellText cell, SnippetSource part, Snippet snippet, SnippetWrapper wrapper) {
    String wrapped = wrapper.wrapped();
    int[] offsets = new int[(int) wrapped.lines().count()];
    int start = 0;
    for (int line = 0; line < offsets.length; line++) {
      int newline = wrapped.indexOf('\n', start);
      int end = newline < 0 ? wrapped.length() : newline;
      boolean isImport = wrapped.startsWith("import ", start);
      offsets[line] = part.offset() + (isImport ? 0 : source(part, wrapper, start, end));
      start = end + 1;
    }
    return new SnippetPlace(cell, part, snippet, offsets);
  }

  /** Returns the position in the snippet of the first source in a part of the class. */
  private static int source(SnippetSource part, SnippetWrapper wrapper, int start, int end) {
    // Code that JShell adds has the position of the source before it; positions of source grow.
    int before = -1;
    for (int i = start; i < end; i++) {
      int source = wrapper.wrappedToSourcePosition(i);
      if (before >= 0 && source == before + 1) {
        return source;
      }
      before = source;
    }
    return part.text().indexOf(part.text().strip());
  }

  /**
   * Returns the position in the cell of a line of the class.
   *
   * @param line number of the line, from 1
   */
  int offset(int line) {
    return line >= 1 && line <= offsets.length ? offsets[line - 1] : part.offset();
  }

  @Override
  public String toString() {
    return "SnippetPlace[%s, %s]".formatted(cell.place(part.offset()), Arrays.toString(offsets));
  }
}
