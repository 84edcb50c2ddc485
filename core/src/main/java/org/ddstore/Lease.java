// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.Objects;

/**
 * A guard for tensors over reusable memory: after the lease ends, they throw. Byte buffers taken
 * from them earlier are not guarded. The end of a lease is not immediately visible to other
 * threads: a caller that ends it while another thread uses the tensors must synchronize with that
 * thread.
 */
public final class Lease {
  private final Object owner;
  private boolean over; // not volatile: a check must be free in a loop over elements

  /**
   * @param owner owner of the memory, named in exception messages
   */
  public Lease(Object owner) {
    this.owner = Objects.requireNonNull(owner, "owner is null");
  }

  /** Ends the lease. Idempotent. */
  public void end() {
    over = true;
  }

  /**
   * @throws IllegalStateException if the lease has ended
   */
  void check() {
    if (over) {
      throw new IllegalStateException("closed: " + owner);
    }
  }
}
