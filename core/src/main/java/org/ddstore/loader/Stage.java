package org.ddstore.loader;

/** The parts of a loader's work, in the order in which a batch passes them. */
public enum Stage {
  /** Choosing the rows of a batch: the sampler, or the iterator that was pushed. */
  PLAN(0),
  /** Reading the rows into the batch. */
  READ(1),
  /** Cropping, padding, casting, and the transform that was given. */
  TRANSFORM(2),
  /** A batch that is ready waits for the trainer: the loader is faster. */
  BATCH_WAITS(3),
  /** The trainer waits for a batch: the loader is slower. Batches that were ready do not count. */
  TRAINER_WAITS(4);

  private final int index;

  Stage(int index) {
    this.index = index;
  }

  /** The place of this stage in arrays that have one element per stage. */
  public int index() {
    return index;
  }
}
