package org.ddstore.mpi;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import mpi.MPI;

/**
 * Serves reads by others while this process computes, where the component needs the target's help:
 * one daemon thread that looks into MPI now and then, often while this process itself reads, seldom
 * when it does not, and not at all while there is nothing to read.
 */
final class Progress {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final long BUSY_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long SHORT_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long LONG_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(500);

  private final MpiCalls calls;
  private final Thread thread;
  private final AtomicInteger users = new AtomicInteger();

  Progress(MpiCalls calls) {
    this.calls = calls;
    this.thread = new Thread(this::run, "ddstore-mpi-progress");
    thread.setDaemon(true);
    thread.start();
  }

  /** There is something to read here. */
  void begin() {
    users.incrementAndGet();
    LockSupport.unpark(thread);
  }

  /** What {@link #begin} said is over. */
  void end() {
    users.decrementAndGet();
  }

  private void run() {
    while (true) {
      if (users.get() == 0) {
        LockSupport.park(this);
        continue;
      }
      calls.progress(() -> MPI.COMM_WORLD.iProbe(MPI.ANY_SOURCE, MPI.ANY_TAG), LIMIT);
      LockSupport.parkNanos(this, calls.idleNs() < BUSY_NS ? SHORT_PAUSE_NS : LONG_PAUSE_NS);
    }
  }
}
