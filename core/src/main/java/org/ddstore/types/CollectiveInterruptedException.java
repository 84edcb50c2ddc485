// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** Thrown if a thread is interrupted in a collective; its interrupt flag stays set. */
public class CollectiveInterruptedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   */
  public CollectiveInterruptedException(String message) {
    super(message);
  }
}
