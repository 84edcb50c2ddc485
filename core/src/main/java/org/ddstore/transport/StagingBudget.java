package org.ddstore.transport;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that the remote ragged records of one plan may take in the staging of all processes
 * together. Thread-safe: the threads of a network learn the lengths.
 */
public final class StagingBudget {
  /** No bound but that of each process: 2 GiB. */
  public static final long UNLIMITED = Long.MAX_VALUE;

  private final AtomicLong takenBytes = new AtomicLong();
  private volatile long limitBytes = UNLIMITED;

  /** Begins a plan. */
  public void begin(long newLimitBytes) {
    limitBytes = newLimitBytes;
    takenBytes.set(0);
  }

  /** Takes bytes; false if the plan then has more than it may have. */
  boolean take(long bytes) {
    return takenBytes.addAndGet(bytes) <= limitBytes;
  }

  long limitBytes() {
    return limitBytes;
  }
}
