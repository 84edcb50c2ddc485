// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;

/**
 * Thrown when the source returns other rows than when the load was planned, or when the plan saw
 * the rows of two different computations. A new plan may succeed.
 */
public final class SourceChangedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   */
  public SourceChangedException(String message) {
    super(message);
  }

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   * @param cause cause of the failure
   */
  public SourceChangedException(String message, Throwable cause) {
    super(message, cause);
  }
}
