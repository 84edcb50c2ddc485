package org.ddstore;

import java.util.Objects;

/**
 * The time in which tensors of memory that is used again may be used: when it has ended they refuse
 * to give anything out. What was got of them before, as a byte buffer, is not guarded. Whoever ends
 * it while another thread uses the tensors has to tell that thread: it may not see it at once.
 */
public final class Lease {
  private final Object owner;
  private boolean over; // not volatile: a check is to cost nothing in a loop over elements

  /**
   * @param owner of the memory, named by what is thrown
   */
  public Lease(Object owner) {
    this.owner = Objects.requireNonNull(owner, "owner");
  }

  /** Ends it. Idempotent. */
  public void end() {
    over = true;
  }

  /**
   * @throws IllegalStateException if it has ended
   */
  void check() {
    if (over) {
      throw new IllegalStateException("closed: " + owner);
    }
  }
}
