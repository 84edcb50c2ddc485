// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import org.ddstore.notebook.classes.CellNames;

/**
 * A stack frame in code of a cell.
 *
 * @param code the code as its user names it: {@code Foo.bar}; empty outside of methods
 * @param cell the cell
 * @param offset position of the line in the cell
 */
record CellFrame(String code, CellText cell, int offset) {
  /** Returns the frame of a class of a cell, given its place. */
  static CellFrame of(String className, String methodName, SnippetPlace place, int line) {
    String type = CellNames.type(className);
    String method = CellNames.method(methodName);
    String code = type + (type.isEmpty() || method.isEmpty() ? "" : ".") + method;
    return new CellFrame(code, place.cell(), place.offset(line));
  }

  /** Returns one line, such as {@code at twice (cell 4, line 2): return 2 * x;}. */
  @Override
  public String toString() {
    String place = cell.linePlace(offset);
    String where = code.isEmpty() ? place : "%s (%s)".formatted(code, place);
    return "at %s: %s".formatted(where, cell.line(offset).strip());
  }
}
