// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import org.ddstore.types.PermanentFailure;

/**
 * Thrown if a file of a checkpoint is missing, shorter or longer than recorded, has another
 * checksum, or was not written by this library. The message names the file and the remedy.
 */
public class CorruptCheckpointException extends CheckpointException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message description of the failure
   */
  public CorruptCheckpointException(String message) {
    super(message);
  }
}
