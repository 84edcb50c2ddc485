// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.util.concurrent.locks.LockSupport;

/**
 * A place where a rank's thread parks until a mirror is updated. One thread waits, any thread may
 * ring.
 */
final class WakeSignal {
  private volatile Thread waiter;
  private volatile Lane awaited;
  private volatile boolean rung;

  /** Parks until the lane has posted the round, a thread rings, or the time is over. */
  void await(Lane lane, long round, long maxNs) {
    waiter = Thread.currentThread();
    awaited = lane; // a ring after this unparks the thread; its data was written before the ring
    if (!lane.hasPosted(round) && !rung) {
      LockSupport.parkNanos(this, maxNs);
    }
    awaited = null;
    rung = false;
  }

  boolean awaits(Lane lane) {
    return awaited == lane;
  }

  /** Wakes the waiting thread if it waits for this lane, or the lane's rank has ended. */
  void ring(Lane lane) {
    if (lane.state() != Lane.OPEN) {
      ring();
    } else if (awaited == lane) {
      LockSupport.unpark(waiter);
    }
  }

  /** Wakes the waiting thread, or keeps a thread that is about to park from parking. */
  void ring() {
    rung = true;
    if (awaited != null) {
      LockSupport.unpark(waiter);
    }
  }
}
