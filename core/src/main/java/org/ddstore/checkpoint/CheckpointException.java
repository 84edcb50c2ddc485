// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import org.ddstore.types.DDStoreException;

/** Thrown if a checkpoint cannot be saved or read. Previous checkpoints are unchanged. */
public class CheckpointException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   */
  public CheckpointException(String message) {
    super(message);
  }

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   * @param cause cause of the failure
   */
  public CheckpointException(String message, Throwable cause) {
    super(message, cause);
  }
}
