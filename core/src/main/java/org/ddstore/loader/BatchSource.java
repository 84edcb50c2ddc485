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

  /** Whether what plans is an iterator of the user's, which nobody else uses. */
  boolean isPushed();

  /** Human-readable: the code that plans, as in {@code the iterator com.example.Rows}. */
  String code();

  /** At most so many samples a batch, to make room before it is planned. */
  int maxSize();
}
