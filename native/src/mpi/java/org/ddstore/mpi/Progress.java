package org.ddstore.mpi;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import mpi.MPI;
import mpi.MPIException;
import mpi.Status;

/**
 * Serves reads by others while this process computes, where the component needs the target's help:
 * one daemon thread that looks into MPI now and then. Readers announce themselves by a message
 * without content; it looks often while they read, seldom else, and not at all while there is
 * nothing to read.
 */
final class Progress {
  /**
   * Of the messages by which readers announce themselves. MPI_Comm_create_group sends under the
   * number of a group's first rank, which is below; MPI allows tags up to 32,767 at least.
   */
  private static final int TAG = 32_000;

  /** Readers that read on announce themselves again after this time. */
  private static final long ANNOUNCED_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final ByteBuffer EMPTY = MPI.newByteBuffer(1);
  private static final long BUSY_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long SHORT_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long LONG_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(500);
  private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long IDLE_PER_PAUSE = 400; // 2 s without readers: the longest pause

  private final MpiCalls calls;
  private final Thread thread;
  private final long[] announcedNs; // by rank in the world; inside MPI
  private long readNs = System.nanoTime() - BUSY_NS;
  private final AtomicInteger users = new AtomicInteger();

  Progress(MpiCalls calls, int ranks) {
    this.calls = calls;
    this.announcedNs = new long[ranks];
    Arrays.fill(announcedNs, System.nanoTime() - ANNOUNCED_NS);
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
    try {
      serve();
    } catch (RuntimeException | Error e) {
      World.breakDown("it cannot help those who read from it any more: " + e);
    }
  }

  private void serve() {
    while (!MpiCalls.isFinalized()) {
      if (users.get() == 0) {
        LockSupport.park(this);
        continue;
      }
      calls.progress(this::look, LIMIT);
      LockSupport.parkNanos(this, pauseNs(System.nanoTime() - readNs));
    }
  }

  /** Grows with the time without readers: the first of them waits longer, and idling is cheap. */
  private static long pauseNs(long idleNs) {
    return idleNs < BUSY_NS
        ? SHORT_PAUSE_NS
        : Math.min(Math.max(idleNs / IDLE_PER_PAUSE, LONG_PAUSE_NS), LONGEST_PAUSE_NS);
  }

  /** Enters MPI, which serves what has come, and takes announcements. */
  private Void look() throws MPIException {
    Status announced = MPI.COMM_WORLD.iProbe(MPI.ANY_SOURCE, TAG);
    while (announced != null) {
      readNs = System.nanoTime();
      MPI.COMM_WORLD.recv(EMPTY, 0, MPI.BYTE, announced.getSource(), TAG);
      announced = MPI.COMM_WORLD.iProbe(MPI.ANY_SOURCE, TAG);
    }
    return null;
  }

  /** Tells a process that it is being read from. Inside {@link MpiCalls}. */
  void announce(int worldRank) throws MPIException {
    long now = System.nanoTime();
    if (now - announcedNs[worldRank] >= ANNOUNCED_NS) {
      announcedNs[worldRank] = now;
      MPI.COMM_WORLD.iSend(EMPTY, 0, MPI.BYTE, worldRank, TAG).free();
    }
  }
}
