package org.ddstore.mpi;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends this JVM when a call of MPI blocks longer than it may: a read from a process that has died
 * spins for ever, and nothing else ends it. One call at a time.
 */
final class Watchdog {
  /** The exit status of a JVM that is ended here. */
  static final int STATUS = 86;

  private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final System.Logger LOG = System.getLogger(Watchdog.class.getName());

  private volatile String call;
  private volatile long deadlineNs;

  void start() {
    Thread thread = new Thread(this::watch, "ddstore-mpi-watchdog");
    thread.setDaemon(true);
    thread.start();
  }

  void begin(String what, Duration limit) {
    deadlineNs = System.nanoTime() + limit.toNanos();
    call = what;
  }

  void end() {
    call = null;
  }

  private void watch() {
    while (true) {
      LockSupport.parkNanos(this, PERIOD_NS);
      String now = call;
      if (now != null && System.nanoTime() - deadlineNs > 0 && call == now) {
        String message =
            "MPI has not come back from \"%s\" in its time, which happens when a rank has died; nothing ends the call, so this JVM is ended with status %d. The processes of an MPI world are its members for good: all executors of it have to be replaced"
                .formatted(now, STATUS);
        LOG.log(System.Logger.Level.ERROR, message);
        System.err.println(message); // the log may be written by a thread that has no time left
        Runtime.getRuntime().halt(STATUS);
      }
    }
  }
}
