// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** The assignment of the samples of an epoch to ranks. */
public enum Distribution {
  /**
   * Of each global batch of G samples, rank r of w takes the positions [rG/w, (r+1)G/w). One order
   * over all rows, the same for every number of ranks.
   */
  SLICES,
  /**
   * Of each global batch, rank r of w takes every w-th position from r on. Otherwise as {@link
   * #SLICES}.
   */
  STRIDED,
  /**
   * Rank r of w has the r-th part of the rows, in an order of its own, so it reads neighbouring
   * rows, and never those of other parts.
   */
  CONTIGUOUS
}
