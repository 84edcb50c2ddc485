// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import org.ddstore.types.PermanentFailure;

/** Thrown when a directory does not contain a complete and undamaged dump of a store. */
public final class InvalidDumpException extends DumpException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  /** The reason why a dump cannot be restored. */
  public enum Problem {
    /** The directory does not exist. */
    MISSING,
    /** The directory, or the file of this path, is not a dump, or of a version not known here. */
    FOREIGN,
    /** The dump was not finished: its writer was stopped, or is still writing. */
    INCOMPLETE,
    /** A file of the dump is missing or truncated, or has other bytes than were written. */
    DAMAGED
  }

  private final Problem problem;

  /**
   * Creates an exception.
   *
   * @param problem reason why the dump cannot be restored
   * @param message description of the failure
   * @param cause cause of the failure; null if there is none
   */
  public InvalidDumpException(Problem problem, String message, Throwable cause) {
    super(message, cause);
    this.problem = problem;
  }

  /** {@return the reason why the dump cannot be restored} */
  public Problem problem() {
    return problem;
  }
}
