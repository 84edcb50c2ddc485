// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/**
 * A failure outside the caller's control: memory, files, another rank or the network. Mistakes of
 * the caller are reported as exceptions of the JDK.
 */
public class DDStoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   */
  public DDStoreException(String message) {
    super(message);
  }

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   * @param cause cause of the failure
   */
  public DDStoreException(String message, Throwable cause) {
    super(message, cause);
  }
}
