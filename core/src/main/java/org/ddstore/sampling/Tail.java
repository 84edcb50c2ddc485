package org.ddstore.sampling;

/** What becomes of the samples at the end that do not fill a global batch. */
enum Tail {
  /** They are left out. */
  DROPPED,
  /** They make smaller batches, or none for some ranks. */
  KEPT,
  /** They are repeated until the batches are full; what repeats has weight 0. */
  PADDED
}
