// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.util.concurrent.TimeUnit;

/**
 * A wait of a rank for the lanes of others: for memory by {@link Backoff}, for a mirror parked
 * until the receiving thread wakes it. Determines when to check for failures.
 */
final class Waiting {
  private static final long PROBE_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long FIRST_ASK_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MAX_ASK_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long MIN_PARK_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long MAX_PARK_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Backoff backoff = new Backoff();
  private final WakeSignal wakeSignal;
  private long nextProbeNs = PROBE_NS;
  private long nextAskNs = FIRST_ASK_NS;

  Waiting(WakeSignal wakeSignal) {
    this.wakeSignal = wakeSignal;
  }

  /** Waits briefly for a lane; returns false while it only spins, where checks cost too much. */
  boolean pause(Lane lane, long round) {
    if (!(lane instanceof Mirror)) {
      return backoff.pause();
    }
    // Mirrors signal; ranks with shared memory do not, so their lanes are polled.
    long parkNs = Math.max(MIN_PARK_NS, Math.min(backoff.elapsedNs() / 8, MAX_PARK_NS));
    wakeSignal.await(lane, round, parkNs);
    return true;
  }

  /** Returns true about every 100 ms. */
  boolean isTimeToProbe() {
    long elapsedNs = backoff.elapsedNs();
    if (elapsedNs < nextProbeNs) {
      return false;
    }
    nextProbeNs = elapsedNs + PROBE_NS;
    return true;
  }

  /** Returns true each time the wait has doubled, from 20 ms on, and finally every 2 s. */
  boolean isTimeToAsk() {
    long elapsedNs = backoff.elapsedNs();
    if (elapsedNs < nextAskNs) {
      return false;
    }
    nextAskNs = elapsedNs + Math.min(elapsedNs, MAX_ASK_NS);
    return true;
  }
}
