// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/**
 * Thrown if no batch is ready in time: the source is slow or has ended, or the consumer holds all
 * buffers. A later call continues at the same batch.
 */
public class PoolStarvedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   */
  public PoolStarvedException(String message) {
    super(message);
  }

  /**
   * @param message description of the failure
   * @param cause stack trace of the user code that was waited for; may be null
   */
  public PoolStarvedException(String message, Throwable cause) {
    super(message, cause);
  }
}
