// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** Thrown at a deadline. The message names the call, the limit and what was missing. */
public class DeadlineExceededException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   */
  public DeadlineExceededException(String message) {
    super(message);
  }

  /**
   * @param message description of the failure
   * @param cause stack trace of the code that was waited for; may be null
   */
  public DeadlineExceededException(String message, Throwable cause) {
    super(message, cause);
  }
}
