// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import org.ddstore.notebook.display.MimeBundle;

/** The output of a cell. Called by any thread of its code. */
@FunctionalInterface
public interface CellOutput {
  /** An output that prints the plain text of values. */
  CellOutput PLAIN = bundle -> System.out.println(bundle.text());

  /** Shows a value below the cell. */
  void show(MimeBundle bundle);
}
