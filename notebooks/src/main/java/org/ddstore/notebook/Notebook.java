// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import org.ddstore.notebook.display.Renderers;

/** What the code of cells calls; its methods are imported in every notebook. */
public final class Notebook {
  /** Of the last notebook that was opened in this JVM: code of cells has no other way to it. */
  private static volatile CellOutput output = CellOutput.PLAIN;

  private Notebook() {}

  static void showOn(CellOutput target) {
    output = target;
  }

  /**
   * Shows a value below the cell: a DataFrame, a store, a batch or a schema as a table, a chart of
   * XChart or an image as a picture, and any other value as text.
   *
   * @param value value, may be null
   */
  public static void display(Object value) {
    output.show(Renderers.render(value));
  }
}
