package org.ddstore;

/**
 * The processes that are in an MPI world are its members for good: it has lost one, or others want
 * to join. All of its processes have to be replaced before the next world.
 */
public class FrozenMembershipException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  public FrozenMembershipException(String message) {
    super(message);
  }

  public FrozenMembershipException(String message, Throwable cause) {
    super(message, cause);
  }
}
