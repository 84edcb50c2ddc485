// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

/** The stages of a loader's work, in the order in which a batch passes them. */
public enum Stage {
  /** Choosing the rows of a batch, by the sampler or a pushed iterator. */
  PLAN(0),
  /** Reading the rows into the batch. */
  READ(1),
  /** Cropping, padding, casting, and the user's transform. */
  TRANSFORM(2),
  /** A ready batch waits for the trainer: the loader is faster. */
  BATCH_WAITS(3),
  /** The trainer waits for a batch: the loader is slower. Ready batches do not count. */
  TRAINER_WAITS(4);

  private final int index;

  Stage(int index) {
    this.index = index;
  }

  /** {@return the index of this stage in arrays with one element per stage} */
  public int index() {
    return index;
  }
}
