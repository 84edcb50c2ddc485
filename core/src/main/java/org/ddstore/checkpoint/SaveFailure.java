// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

/** The effect on the training if the storage fails during a save. */
public enum SaveFailure {
  /** All ranks throw a {@link CheckpointException}. */
  THROW,
  /**
   * Rank 0 logs a warning, {@link Checkpoints#lastFailure()} returns the failure, and the training
   * continues with the previous checkpoint.
   */
  REPORT
}
