// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A gate that admits readers until it is closed and detects when the last reader has left. Each
 * reader has its own pass, so that readers do not contend: entering costs one fenced store. A
 * reader marks its pass, then checks whether the gate is closed; the closer closes the gate, then
 * checks the passes. With full fences on both sides, at least one of them sees the other.
 */
final class ReadGate {
  private final Set<Pass> passes = ConcurrentHashMap.newKeySet();
  private final CountDownLatch drained = new CountDownLatch(1);
  private final AtomicBoolean freed = new AtomicBoolean();
  private final Object owner;
  private final Runnable whenDrained;
  private volatile boolean closed;

  /**
   * @param owner object named in exception messages
   * @param whenDrained run once after the close, by the thread that finds no reader inside
   */
  ReadGate(Object owner, Runnable whenDrained) {
    this.owner = owner;
    this.whenDrained = whenDrained;
  }

  Pass newPass() {
    Pass pass = new Pass();
    passes.add(pass);
    return pass;
  }

  boolean isClosed() {
    return closed;
  }

  /** Returns whether the gate is closed, no reader is inside, and the drain action has run. */
  boolean isDrained() {
    return drained.getCount() == 0;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("closed: " + owner);
    }
  }

  /** Closes the gate and waits; returns false if readers are inside, the last of which drains. */
  boolean close(Duration timeout) throws InterruptedException {
    closed = true;
    VarHandle.fullFence();
    drainIfIdle();
    // Not await alone: that throws on an interrupted thread even if there is nothing to wait for.
    return drained.getCount() == 0 || drained.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  int inside() {
    return (int) passes.stream().filter(Pass::isInside).count();
  }

  private void drainIfIdle() {
    for (Pass pass : passes) {
      if (pass.isInside()) {
        return;
      }
    }
    if (freed.compareAndSet(false, true)) {
      try {
        whenDrained.run();
      } finally {
        drained.countDown();
      }
    }
  }

  /** The entry state of one reader. */
  final class Pass {
    private static final int OUTSIDE = 0;
    private static final int INSIDE = 1;
    private static final int RETIRED = 2;
    private static final VarHandle STATE;

    static {
      try {
        STATE = MethodHandles.lookup().findVarHandle(Pass.class, "state", int.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    @SuppressWarnings("unused") // by STATE
    private int state;

    private Pass() {}

    void enter(Object reader) {
      if (!STATE.compareAndSet(this, OUTSIDE, INSIDE)) {
        throw refused(reader);
      }
      if (closed) {
        exit();
        throw new IllegalStateException("closed: " + owner);
      }
    }

    void exit() {
      STATE.setVolatile(this, OUTSIDE);
      if (closed) {
        drainIfIdle();
      }
    }

    /** Retires this pass; returns false if it was already retired. */
    boolean retire(Object reader) {
      while (!STATE.compareAndSet(this, OUTSIDE, RETIRED)) {
        if ((int) STATE.getVolatile(this) == RETIRED) {
          return false;
        }
        if (!closed) {
          throw refused(reader);
        }
        Thread.onSpinWait();
      }
      passes.remove(this);
      return true;
    }

    private IllegalStateException refused(Object reader) {
      return new IllegalStateException(
          (int) STATE.getVolatile(this) == RETIRED
              ? "closed: " + reader
              : "used by two threads at once: " + reader);
    }

    private boolean isInside() {
      return (int) STATE.getVolatile(this) == INSIDE;
    }
  }
}
