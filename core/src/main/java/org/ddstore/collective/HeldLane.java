package org.ddstore.collective;

import java.util.function.BooleanSupplier;

/** A lane as this JVM has it for all its ranks, counted by reference; the last one out frees it. */
final class HeldLane {
  private final Lane lane;
  private final BooleanSupplier ownerLives;
  private final Runnable free;
  private int users;

  /**
   * @param ownerLives false only if the process of the lane's rank has certainly ended
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

  /** True if this was the last user: the memory is free then. */
  boolean removeUser() {
    if (--users > 0) {
      return false;
    }
    free.run();
    return true;
  }
}
