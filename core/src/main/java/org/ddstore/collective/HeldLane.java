// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.util.function.BooleanSupplier;

/** A lane shared by all ranks of this JVM, reference-counted; the last user frees it. */
final class HeldLane {
  private final Lane lane;
  private final BooleanSupplier ownerLives;
  private final Runnable free;
  private int users;

  /**
   * @param ownerLives returns false only if the process of the lane's rank has certainly ended
   */
  HeldLane(Lane lane, BooleanSupplier ownerLives, Runnable free) {
    this.lane = lane;
    this.ownerLives = ownerLives;
    this.free = free;
  }

  Lane lane() {
    return lane;
  }

  boolean ownerLives() {
    return ownerLives.getAsBoolean();
  }

  void addUser() {
    users++;
  }

  /** Removes a user; returns true if it was the last one, and the memory is then free. */
  boolean removeUser() {
    if (--users > 0) {
      return false;
    }
    free.run();
    return true;
  }
}
