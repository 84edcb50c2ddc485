// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

/** A source that plans batches one after the other. Used by one thread at a time. */
interface BatchSource {
  /**
   * Plans the next batch; an exception ends the source.
   *
   * @return false if the source is exhausted
   */
  boolean next(BatchPlan plan);

  /** Returns whether planning only computes, so that a consumer with a deadline may do it. */
  boolean neverWaits();

  /** Returns whether the source pulls from a user's iterator, which nothing else uses. */
  boolean isPushed();

  /** Returns the name of the planning code, such as {@code the iterator com.example.Rows}. */
  String code();

  /** Returns the largest number of samples in a batch, for reserving memory before planning. */
  int maxSize();
}
