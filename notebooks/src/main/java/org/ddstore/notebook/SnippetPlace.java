// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import jdk.jshell.Snippet;
import jdk.jshell.SourceCodeAnalysis.SnippetWrapper;

/**
 * The place of an evaluated snippet in a cell.
 *
 * @param cell the cell
 * @param part the part of the cell that the snippet was made of
 * @param snippet the snippet
 * @param wrapper the class that JShell has put around the snippet
 */
record SnippetPlace(CellText cell, SnippetSource part, Snippet snippet, SnippetWrapper wrapper) {
  /**
   * Returns the position in the cell of a line of the class, as its stack frames name it.
   *
   * @param line number of the line, from 1
   */
  int offset(int line) {
    String wrapped = wrapper.wrapped();
    int start = 0;
    for (int i = 1; i < line && start >= 0; i++) {
      start = wrapped.indexOf('\n', start) + 1;
    }
    int end = wrapped.indexOf('\n', start);
    // What JShell adds has the position of the code before it; positions of code from the cell
    // grow.
    int before = -1;
    for (int i = start; i < (end < 0 ? wrapped.length() : end); i++) {
      int source = wrapper.wrappedToSourcePosition(i);
      if (before >= 0 && source == before + 1) {
        return part.offset() + source;
      }
      before = source;
    }
    return part.offset() + Math.max(0, part.text().indexOf(part.text().strip()));
  }
}
