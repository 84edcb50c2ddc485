package org.ddstore.loader;

/** Plans batches one after the other. Used by the planner's thread alone. */
interface BatchSource {
  /**
   * Plans the next batch; what is thrown ends the source.
   *
   * @return false if there is none
   */
  boolean next(BatchPlan plan);

  /** At most so many samples a batch, to make room before it is planned. */
  int maxSize();
}
