package org.ddstore;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;

/**
 * The wait of one reader for rows in local memory that their rank is changing. It has the same
 * deadline as a read over a transport, {@link StoreOptions#readTimeout()}, and fails at once when
 * the process of that rank has ended, because the change cannot complete.
 */
final class StableWait {
  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
  private static final long PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long PROBE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Variable variable;
  private volatile boolean waits;
  private volatile int awaitedRank;
  private long sinceNanos;
  private long nextProbeNanos;

  StableWait(Variable variable) {
    this.variable = variable;
  }

  /** Begins a read, without a wait. */
  void begin() {
    if (waits) {
      waits = false;
    }
  }

  /**
   * Returns the awaited rank and the waiting time as human-readable text; empty without a wait. Any
   * thread may call this.
   */
  String describe() {
    return waits && awaitedRank >= 0
        ? "for rank %d, which has been changing its rows for %,d ms"
            .formatted(awaitedRank, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos))
        : "";
  }

  /**
   * Pauses briefly before the rows are read again.
   *
   * @param rank rank that holds the rows; -1 if they have become stable in the meantime
   * @throws DDStoreException if the rows cannot become stable, or the deadline has passed
   */
  void pause(int rank) {
    long now = System.nanoTime();
    if (!waits) {
      sinceNanos = now;
      awaitedRank = -1;
      waits = true;
      nextProbeNanos = now + PROBE_NANOS;
    }
    if (rank >= 0) {
      awaitedRank = rank;
    }
    long elapsed = now - sinceNanos;
    if (Thread.currentThread().isInterrupted()) {
      throw new DDStoreException("interrupted while rows of \"" + variable.name() + "\" changed");
    }
    if (now - nextProbeNanos >= 0) {
      nextProbeNanos = now + PROBE_NANOS;
      variable.checkReadable();
      variable.checkChangingRankLives(rank);
    }
    Duration timeout = variable.readTimeout();
    if (elapsed > timeout.toNanos()) {
      throw new DeadlineExceededException(
          "rows of \"%s\" on rank %d have been changing for %s, the read timeout: its epochBegin() hangs or needs a longer read timeout"
              .formatted(variable.name(), rank, timeout));
    }
    if (elapsed < SPIN_NANOS) {
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(this, PARK_NANOS);
    }
  }
}
