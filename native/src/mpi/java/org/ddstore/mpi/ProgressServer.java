// SPDX-License-Identifier: Apache-2.0
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
 * A server of reads by other processes while this process computes, for components that need the
 * target's help: one daemon thread that enters MPI periodically. Readers announce themselves by an
 * empty message; the thread polls often while they read, rarely otherwise, and not at all while
 * nothing is shared.
 */
final class ProgressServer {
  /**
   * Tag of the messages by which readers announce themselves. MPI_Comm_create_group sends with the
   * number of a group's first rank as tag, which is smaller; MPI allows tags of at least 32,767.
   */
  private static final int TAG = 32_000;

  /** Interval at which active readers repeat their announcement. */
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
  private final long[] announcedNs; // by world rank; used only inside MPI calls
  private long readNs = System.nanoTime() - BUSY_NS;
  private final AtomicInteger users = new AtomicInteger();

  ProgressServer(MpiCalls calls, int ranks) {
    this.calls = calls;
    this.announcedNs = new long[ranks];
    Arrays.fill(announcedNs, System.nanoTime() - ANNOUNCED_NS);
    this.thread = new Thread(this::run, "ddstore-mpi-progress");
    thread.setDaemon(true);
    thread.start();
  }

  /** Records that a group with readable memory has begun. */
  void begin() {
    users.incrementAndGet();
    LockSupport.unpark(thread);
  }

  /** Ends one group that was recorded by {@link #begin}. */
  void end() {
    users.decrementAndGet();
  }

  private void run() {
    try {
      serve();
    } catch (RuntimeException | Error e) {
      World.breakDown("the thread that serves reads has failed: " + e);
    }
  }

  private void serve() {
    while (!MpiCalls.isFinalized()) {
      if (users.get() == 0) {
        LockSupport.park(this);
        continue;
      }
      calls.progress(this::poll, LIMIT);
      LockSupport.parkNanos(this, pauseNs(System.nanoTime() - readNs));
    }
  }

  /** Returns a pause that grows with the time without readers, so that idling is cheap. */
  private static long pauseNs(long idleNs) {
    return idleNs < BUSY_NS
        ? SHORT_PAUSE_NS
        : Math.min(Math.max(idleNs / IDLE_PER_PAUSE, LONG_PAUSE_NS), LONGEST_PAUSE_NS);
  }

  /** Enters MPI, which serves pending reads, and receives announcements. */
  private Void poll() throws MPIException {
    Status announced = MPI.COMM_WORLD.iProbe(MPI.ANY_SOURCE, TAG);
    while (announced != null) {
      readNs = System.nanoTime();
      MPI.COMM_WORLD.recv(EMPTY, 0, MPI.BYTE, announced.getSource(), TAG);
      announced = MPI.COMM_WORLD.iProbe(MPI.ANY_SOURCE, TAG);
    }
    return null;
  }

  /** Tells a process that it is being read from. Called inside {@link MpiCalls}. */
  void announce(int worldRank) throws MPIException {
    long now = System.nanoTime();
    if (now - announcedNs[worldRank] >= ANNOUNCED_NS) {
      announcedNs[worldRank] = now;
      MPI.COMM_WORLD.iSend(EMPTY, 0, MPI.BYTE, worldRank, TAG).free();
    }
  }
}
