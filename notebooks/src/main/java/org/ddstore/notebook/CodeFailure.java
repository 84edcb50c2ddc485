// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.Optional;

/** Thrown with the exception of a cell's code as its cause, to be reported to the user. */
final class CodeFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient CellFrame place;

  CodeFailure(Throwable cause) {
    this(cause, null);
  }

  /**
   * Creates a failure of code without stack frames.
   *
   * @param place place of the failure
   */
  CodeFailure(Throwable cause, CellFrame place) {
    super(cause);
    this.place = place;
  }

  /** Returns the place of the failure if the stack of the cause does not name it. */
  Optional<CellFrame> place() {
    return Optional.ofNullable(place);
  }
}
