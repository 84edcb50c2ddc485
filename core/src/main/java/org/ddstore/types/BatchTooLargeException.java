// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** Thrown if the rows of one call do not fit in one batch. The message names the legal number. */
public class BatchTooLargeException extends IllegalArgumentException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   */
  public BatchTooLargeException(String message) {
    super(message);
  }
}
