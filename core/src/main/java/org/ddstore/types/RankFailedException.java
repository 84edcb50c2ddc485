package org.ddstore.types;

/**
 * A collective could not be completed because of one rank: it threw, it died, or it called
 * something else. Raised on every live rank that takes part.
 */
public class RankFailedException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final int rank;

  /**
   * @param rank the rank that caused the failure
   */
  public RankFailedException(int rank, String message) {
    super(message);
    this.rank = rank;
  }

  /** The rank that caused the failure. */
  public int rank() {
    return rank;
  }
}
