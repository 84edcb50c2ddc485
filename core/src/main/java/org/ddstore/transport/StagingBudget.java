// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.util.concurrent.atomic.AtomicLong;

/** The limit of the staging memory of a plan's remote ragged records. Thread-safe. */
public final class StagingBudget {
  /** No common limit; the limit of each process is 2 GiB. */
  public static final long UNLIMITED = Long.MAX_VALUE;

  private final AtomicLong takenBytes = new AtomicLong();
  private volatile long limitBytes = UNLIMITED;

  public void begin(long limitBytes) {
    this.limitBytes = limitBytes;
    takenBytes.set(0);
  }

  /** Takes bytes. Returns false if the plan exceeds its limit. */
  boolean take(long bytes) {
    return takenBytes.addAndGet(bytes) <= limitBytes;
  }

  long limitBytes() {
    return limitBytes;
  }
}
