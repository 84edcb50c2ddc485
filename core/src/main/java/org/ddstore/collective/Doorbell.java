package org.ddstore.collective;

import java.util.concurrent.locks.LockSupport;

/** Where a rank's thread parks until a mirror has news. One thread waits, any may ring. */
final class Doorbell {
  private volatile Thread waiter;
  private volatile Lane awaited;
  private volatile boolean rung;

  /** Parks until this lane has posted the round, somebody rings, or the time is over. */
  void await(Lane lane, long round, long maxNs) {
    waiter = Thread.currentThread();
    awaited = lane; // from here on a ring unparks, and what it is about was written before it
    if (!lane.hasPosted(round) && !rung) {
      LockSupport.parkNanos(this, maxNs);
    }
    awaited = null;
    rung = false;
  }

  boolean awaits(Lane lane) {
    return awaited == lane;
  }

  /** News of this lane: of interest if it is the awaited one, or if its rank is at its end. */
  void ring(Lane lane) {
    if (lane.state() != Lane.OPEN) {
      ring();
    } else if (awaited == lane) {
      LockSupport.unpark(waiter);
    }
  }

  /** Wakes who waits, or does not let park who is about to. */
  void ring() {
    rung = true;
    if (awaited != null) {
      LockSupport.unpark(waiter);
    }
  }
}
