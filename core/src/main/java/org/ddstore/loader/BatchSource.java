package org.ddstore.loader;

/** Plans batches one after the other. Used by one thread at a time. */
interface BatchSource {
  /**
   * Plans the next batch; what is thrown ends the source.
   *
   * @return false if there is none
   */
  boolean next(BatchPlan plan);

  /** Whether batches are only computed, so that a consumer may do it who has a deadline. */
  boolean neverWaits();

  /** At most so many samples a batch, to make room before it is planned. */
  int maxSize();
}
