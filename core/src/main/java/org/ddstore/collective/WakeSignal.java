// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.util.concurrent.locks.LockSupport;

/** A signal on which one thread parks until a mirror is updated. Any thread may signal. */
final class WakeSignal {
  private volatile Thread waiter;
  private volatile Lane awaited;
  private volatile boolean signalled;

  /** Parks until the lane has posted the round, a thread signals, or the time is over. */
  void await(Lane lane, long round, long maxNs) {
    waiter = Thread.currentThread();
    awaited = lane; // a later signal unparks the thread; the data was written before the signal
    if (!lane.hasPosted(round) && !signalled) {
      LockSupport.parkNanos(this, maxNs);
    }
    awaited = null;
    signalled = false;
  }

  boolean awaits(Lane lane) {
    return awaited == lane;
  }

  /** Wakes the waiting thread if it waits for this lane, or the lane's rank has ended. */
  void signal(Lane lane) {
    if (lane.state() != Lane.OPEN) {
      signal();
    } else if (awaited == lane) {
      LockSupport.unpark(waiter);
    }
  }

  /** Wakes the waiting thread, or keeps a thread that is about to park from parking. */
  void signal() {
    signalled = true;
    if (awaited != null) {
      LockSupport.unpark(waiter);
    }
  }
}
