package org.ddstore.loader;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that is held for less than a microsecond at a time. A thread that finds it held spins for
 * a while before it sleeps, because a wake-up takes as long as reading some hundred rows.
 */
final class BriefLock extends ReentrantLock {
  private static final long serialVersionUID = 1L;
  private static final int TRIES = 100;

  @Override
  public void lock() {
    for (int i = 0; i < TRIES; i++) {
      if (tryLock()) {
        return;
      }
      Thread.onSpinWait();
    }
    super.lock();
  }
}
