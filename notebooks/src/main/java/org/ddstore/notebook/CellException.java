// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.List;

/** Thrown if a cell cannot be compiled, or its code fails or is interrupted. */
public final class CellException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final List<String> report;

  /**
   * Creates an exception.
   *
   * @param name short name of the kind of error
   * @param message one line
   * @param report lines for the user, with places in cells
   * @param cause exception of the cell's code, or null
   */
  CellException(String name, String message, List<String> report, Throwable cause) {
    super(message, cause);
    this.name = name;
    this.report = List.copyOf(report);
  }

  /** Returns the short name of the kind of error, such as {@code ArithmeticException}. */
  public String name() {
    return name;
  }

  /** Returns the lines for the user: what failed, where in which cell, and the causes. */
  public List<String> report() {
    return report;
  }
}
