// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** Thrown by reads if the rows were freed: the store was dropped, or a process has left it. */
public final class StoreGoneException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message names the rows and the process
   */
  public StoreGoneException(String message) {
    super(message);
  }
}
