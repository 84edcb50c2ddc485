// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** The assignment of the samples of an epoch to ranks. */
public enum Distribution {
  /**
   * Contiguous slices of each global batch: rank r of w takes the positions [rG/w, (r+1)G/w) of G
   * samples. All ranks share one order over all rows, the same for every number of ranks.
   */
  SLICES,
  /** Every w-th position of a global batch, from rank r on. Ordered as {@link #SLICES}. */
  STRIDED,
  /**
   * Contiguous parts of the rows: rank r of w takes the r-th part, in its own order, so it reads
   * neighbouring rows and never those of other parts.
   */
  CONTIGUOUS
}
