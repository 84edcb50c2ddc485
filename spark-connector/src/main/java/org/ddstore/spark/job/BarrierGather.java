// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.BarrierTaskContext;

/**
 * An allGather of a barrier task that returns as soon as the messages arrive. {@link
 * BarrierTaskContext#allGather} of Spark 3.5 to 4.3 polls for them, and for a kill of the task,
 * once per second, although they usually arrive within milliseconds. An interrupt makes it poll
 * immediately, so a second thread interrupts this sleep, and only this sleep, at intervals that
 * grow with the wait.
 */
final class BarrierGather {
  private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Divisor of the elapsed wait that gives the next pause. */
  private static final int PART_OF_WAIT = 8;

  private final Thread task = Thread.currentThread();
  private volatile boolean isDone;

  private BarrierGather() {}

  /** Returns the messages of all tasks of the stage, by partition. Collective; blocks. */
  static String[] allGather(BarrierTaskContext context, String message) {
    BarrierGather gather = new BarrierGather();
    Thread waker = new Thread(gather::wake, "ddstore-barrier-waker");
    waker.setDaemon(true);
    waker.start();
    try {
      return context.allGather(message);
    } finally {
      gather.isDone = true;
      LockSupport.unpark(waker);
      awaitEnd(waker);
      if (Thread.interrupted() && context.isInterrupted()) {
        Thread.currentThread().interrupt(); // this interrupt is Spark's, which ends the task
      }
    }
  }

  private void wake() {
    long start = System.nanoTime();
    while (!isDone) {
      long pause = (System.nanoTime() - start) / PART_OF_WAIT;
      LockSupport.parkNanos(Math.min(MAX_PAUSE_NANOS, Math.max(MIN_PAUSE_NANOS, pause)));
      if (!isDone && task.getState() == Thread.State.TIMED_WAITING && sleepsInBarrier()) {
        task.interrupt();
      }
    }
  }

  private boolean sleepsInBarrier() {
    boolean sleeps = false;
    for (StackTraceElement frame : task.getStackTrace()) {
      if (!frame.getClassName().equals(Thread.class.getName())) {
        return sleeps && frame.getClassName().startsWith(BarrierTaskContext.class.getName());
      }
      sleeps |= frame.getMethodName().equals("sleep");
    }
    return false;
  }

  /** Waits for the end of the waker, and restores an interrupt that arrives meanwhile. */
  private static void awaitEnd(Thread waker) {
    boolean isInterrupted = false;
    while (waker.isAlive()) {
      try {
        waker.join();
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
