package org.ddstore.types;

/**
 * MPI membership is frozen: the processes of a world are its members for good, and it has lost one,
 * or others want to join. All of its processes have to be replaced before the next world.
 */
public class FrozenMembershipException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final boolean lost;

  /**
   * @param lost whether the world is of no use any more, also to its members
   */
  public FrozenMembershipException(String message, boolean lost) {
    super(message);
    this.lost = lost;
  }

  /** True if the world is of no use any more; false if it is not that of these ranks. */
  public boolean isLost() {
    return lost;
  }
}
