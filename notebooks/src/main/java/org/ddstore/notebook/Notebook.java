// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

/** Methods for the code of cells, imported in every notebook. */
public final class Notebook {
  /** The output of the last notebook that was opened in this JVM. Static methods need it. */
  private static volatile CellOutput output = CellOutput.PLAIN;

  private Notebook() {}

  static void showOn(CellOutput target) {
    output = target;
  }

  /**
   * Shows a value below the cell: a DataFrame as a table, a chart of XChart or an image as a
   * picture, and any other value as text.
   */
  public static void display(Object value) {
    output.show(Shown.of(value));
  }
}
