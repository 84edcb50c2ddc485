// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

/** The part of a save for which the training waits. */
public enum Saving {
  /**
   * {@link Checkpoints#save(org.ddstore.sampling.EpochState, CheckpointBody) save} returns when the
   * bytes of this rank are in memory; a thread in the background publishes the checkpoint. A
   * checkpoint larger than the {@linkplain CheckpointOptions#memoryLimit memory limit} delays the
   * training until the rest fits.
   */
  BACKGROUND,
  /** A save returns when the checkpoint is published. */
  SYNCHRONOUS
}
