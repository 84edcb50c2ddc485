// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/**
 * Thrown if an MPI world has lost a process or another process wants to join. The membership of a
 * world is fixed, so all of its processes must be replaced before the next world.
 */
public class FrozenMembershipException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final boolean lost;

  /**
   * @param message description of the failure
   * @param lost whether the world is unusable, even to its members
   */
  public FrozenMembershipException(String message, boolean lost) {
    super(message);
    this.lost = lost;
  }

  /** {@return true if the world is unusable; false if it is intact but has other ranks} */
  public boolean isLost() {
    return lost;
  }
}
