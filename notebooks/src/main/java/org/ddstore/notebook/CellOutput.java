// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

/** The output of a cell. Called by any thread of its code. */
@FunctionalInterface
public interface CellOutput {
  /** An output that prints the plain text of values. */
  CellOutput PLAIN = value -> System.out.println(value.text());

  /** Shows a value below the cell. */
  void show(Shown value);

  /** Tells the user about the state of Spark. */
  default void progress(String line) {}
}
