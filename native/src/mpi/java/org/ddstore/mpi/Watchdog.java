// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.types.Loggers;

/**
 * A watchdog that ends this JVM when an MPI call does not return: a read from a dead process spins
 * for ever, and nothing else ends it. It acts when the time limit of the call is over, and earlier
 * if a process of this host has died, because MPI then prints a line on each iteration.
 */
final class Watchdog {
  private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Time in which a call that began before a death was detected may still complete. */
  private static final long GRACE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Time in which the end of a process is visible to others after its memory is gone. */
  private static final long LOSS_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final System.Logger LOG = Loggers.of(Watchdog.class);

  private final Map<String, ProcessHandle> neighbours;
  private volatile String call;
  private volatile long beginNs;
  private volatile long limitNs;

  /**
   * @param neighbours other members of the world on this host, by their names
   */
  Watchdog(Map<String, ProcessHandle> neighbours) {
    this.neighbours = Map.copyOf(neighbours);
  }

  void start() {
    Thread thread = new Thread(this::watch, "ddstore-mpi-watchdog");
    thread.setDaemon(true);
    thread.start();
  }

  /** Records that a call begins; one at a time. */
  void begin(String what, Duration limit) {
    limitNs = limit.toNanos();
    beginNs = System.nanoTime();
    call = what;
  }

  /** Records that the call has returned. */
  void end() {
    call = null;
  }

  /** Waits at most half a second until a process has ended or the world is unusable. */
  boolean awaitLoss() {
    long deadlineNs = System.nanoTime() + LOSS_NS;
    lookForLosses();
    while (World.trouble().isEmpty() && System.nanoTime() < deadlineNs) {
      LockSupport.parkNanos(this, POLL_NS);
      lookForLosses();
    }
    return !World.trouble().isEmpty();
  }

  private void lookForLosses() {
    neighbours.forEach(
        (name, process) -> {
          if (World.trouble().isEmpty() && !process.isAlive()) {
            World.breakDown(name + " has ended");
          }
        });
  }

  private void watch() {
    while (true) {
      LockSupport.parkNanos(this, PERIOD_NS);
      lookForLosses();
      String now = call;
      long begunNs = beginNs;
      long allowedNs = World.trouble().isEmpty() ? limitNs : Math.min(limitNs, GRACE_NS);
      // Reading the call again ensures that the time is that of this call.
      if (now != null && System.nanoTime() - begunNs > allowedNs && stillIn(now, begunNs)) {
        endProcess(now);
      }
    }
  }

  private boolean stillIn(String what, long begunNs) {
    return call != null && call.equals(what) && beginNs == begunNs;
  }

  private static void endProcess(String what) {
    String message =
        "MPI does not come back from \"%s\"%s. Nothing ends the call, so this JVM is ended with status %d. MPI membership is frozen: all executors of this world have to be replaced"
            .formatted(
                what, World.trouble().isEmpty() ? "" : ": " + World.trouble(), Mpi.HUNG_STATUS);
    LOG.log(System.Logger.Level.ERROR, message);
    System.err.println(message); // the thread that writes the log may not run before the end
    Runtime.getRuntime().halt(Mpi.HUNG_STATUS);
  }
}
