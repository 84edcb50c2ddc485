// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.classes;

/** A flag that stops the code of all cells of this JVM. Thread-safe. */
public final class CellStop {
  private static volatile boolean requested;

  private CellStop() {}

  /** Makes every {@link #check()} throw, in all threads, until {@link #clear()}. */
  public static void request() {
    requested = true;
  }

  public static void clear() {
    requested = false;
  }

  public static boolean isRequested() {
    return requested;
  }

  /**
   * Called by the code of cells.
   *
   * @throws StoppedError if the code has to stop
   */
  public static void check() {
    if (requested) {
      throw new StoppedError();
    }
  }

  /** Ends the code of a cell; an error, because code catches exceptions more often. */
  public static final class StoppedError extends Error {
    private static final long serialVersionUID = 1L;

    private StoppedError() {
      super("interrupted");
    }
  }
}
