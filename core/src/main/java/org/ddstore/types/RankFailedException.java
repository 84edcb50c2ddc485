// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/**
 * Thrown if a collective fails because of one rank: it threw, it ended, or it called another
 * collective. Raised on every live rank of the collective.
 */
public class RankFailedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final int rank;

  /**
   * @param rank rank that caused the failure
   * @param message description of the failure
   */
  public RankFailedException(int rank, String message) {
    super(message);
    this.rank = rank;
  }

  /** {@return the rank that caused the failure} */
  public int rank() {
    return rank;
  }
}
