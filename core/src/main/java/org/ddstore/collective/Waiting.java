package org.ddstore.collective;

import java.util.concurrent.TimeUnit;

/**
 * One wait of a rank for the lanes of others: for memory by {@link Backoff}, for a mirror parked
 * until the receiving thread wakes it. Knows when it is time to look around.
 */
final class Waiting {
  private static final long PROBE_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long FIRST_ASK_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MAX_ASK_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long MIN_PARK_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long MAX_PARK_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Backoff backoff = new Backoff();
  private final Doorbell bell;
  private long nextProbeNs = PROBE_NS;
  private long nextAskNs = FIRST_ASK_NS;

  Waiting(Doorbell bell) {
    this.bell = bell;
  }

  /** Waits a little for a lane; false while it only spins, where looking around costs too much. */
  boolean pause(Lane lane, long round) {
    if (!(lane instanceof Mirror)) {
      return backoff.pause();
    }
    // Rung for a mirror; ranks whose memory is shared ring no bell, so it looks now and then.
    long parkNs = Math.max(MIN_PARK_NS, Math.min(backoff.elapsedNs() / 8, MAX_PARK_NS));
    bell.await(lane, round, parkNs);
    return true;
  }

  /** True about every 100 ms. */
  boolean isTimeToProbe() {
    long elapsedNs = backoff.elapsedNs();
    if (elapsedNs < nextProbeNs) {
      return false;
    }
    nextProbeNs = elapsedNs + PROBE_NS;
    return true;
  }

  /**
   * True whenever the wait has doubled, from 20 ms on, and at last every 2 s: messages are hardly
   * ever lost, and a rank may wait for hours.
   */
  boolean isTimeToAsk() {
    long elapsedNs = backoff.elapsedNs();
    if (elapsedNs < nextAskNs) {
      return false;
    }
    nextAskNs = elapsedNs + Math.min(elapsedNs, MAX_ASK_NS);
    return true;
  }
}
