// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import org.ddstore.types.DDStoreException;

/**
 * Thrown when a barrier job, or the plan of a load, fails in its last attempt or permanently. The
 * cause is the exception of a rank or task of that attempt, if one was reported.
 */
public class StoreJobException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   * @param cause cause of the failure
   */
  public StoreJobException(String message, Throwable cause) {
    super(message, cause);
  }
}
