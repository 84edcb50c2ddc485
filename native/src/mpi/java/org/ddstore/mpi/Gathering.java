// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.nio.IntBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import mpi.Intracomm;
import mpi.MPI;
import mpi.MPIException;
import mpi.Request;
import org.ddstore.types.CollectiveInterruptedException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;

/**
 * A protocol by which the ranks of one group meet before they make MPI calls that block until all
 * ranks have called. They meet in non-blocking rounds: in each round every rank sends its purpose
 * and whether its JVM is free for it. A rank that does not come, or has left, therefore causes an
 * error instead of a hang.
 *
 * <p>A rank can give up while it waits for the first round of a section: the round stays in
 * progress, and in the next round the rank announces that it leaves. Once all ranks have come, none
 * leaves, and a rank that does not answer after that has broken the world. Used by one thread at a
 * time.
 */
final class Gathering {
  private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(100);

  /** Purpose of a rank that no longer participates; sections count from 1. */
  private static final int TO_LEAVE = 0;

  private final World world;
  private final Intracomm comm;
  private final MpiOptions options;

  /** Free (1) or not (0), purpose, negated purpose; MPI computes the minimum of each. */
  private final IntBuffer sent = MPI.newIntBuffer(3);

  private final IntBuffer least = MPI.newIntBuffer(3);
  private Request round; // in progress: MPI uses the buffers; null if none is
  private int sections;

  Gathering(World world, Intracomm comm, MpiOptions options) {
    this.world = world;
    this.comm = comm;
    this.options = options;
  }

  /** An operation that blocks until all ranks have called it. */
  @FunctionalInterface
  interface Section {
    /**
     * Calls MPI, as all ranks do.
     *
     * @param comm communicator of the group
     */
    void run(Intracomm comm) throws MPIException;
  }

  /**
   * Runs a section on all ranks, once all of them have come and no JVM is in a section of another
   * group. Collective.
   *
   * @param patience longest time between the arrivals of the ranks
   * @throws DeadlineExceededException if ranks do not come, or are not free
   * @throws CollectiveInterruptedException if the thread is interrupted before all have come
   * @throws DDStoreException if a rank has left
   * @throws org.ddstore.types.FrozenMembershipException if the world is broken
   */
  void run(String what, Duration patience, Section section) {
    if (round != null) {
      throw new DDStoreException(what + ": this rank has given up an earlier call");
    }
    int purpose = ++sections;
    long deadlineNs = System.nanoTime() + patience.toNanos();
    post(what, 0, purpose);
    long startNs = System.nanoTime();
    while (!isOver(what)) {
      if (Thread.currentThread().isInterrupted()) {
        throw new CollectiveInterruptedException(what + ": interrupted while waiting for ranks");
      }
      if (System.nanoTime() - deadlineNs > 0) {
        throw new DeadlineExceededException(
            "not all ranks reached \"%s\" within %d ms".formatted(what, patience.toMillis()));
      }
      pause(startNs);
    }
    enter(what, purpose, deadlineNs, section);
  }

  /**
   * Tells the other ranks that this one no longer participates. Does not block.
   *
   * @return true once all ranks have said so; then {@link #finish} must be called
   */
  boolean allLeave() {
    String what = "close";
    if (round == null) {
      post(what, 0, TO_LEAVE);
    }
    return isOver(what) && least.get(1) == TO_LEAVE && least.get(2) == TO_LEAVE;
  }

  /**
   * Runs the last section, after {@link #allLeave}. Collective.
   *
   * @throws DeadlineExceededException if other stores occupy MPI for the whole collective timeout
   */
  void finish(Section section) {
    long deadlineNs = System.nanoTime() + options.collectiveTimeout().toNanos();
    enter("close", TO_LEAVE, deadlineNs, section);
  }

  /** Waits until all ranks have come and no meeting of another group is in progress in any JVM. */
  private void enter(String what, int purpose, long deadlineNs, Section section) {
    for (int attempt = 1; ; attempt++) {
      checkPurpose(what, purpose);
      boolean free = World.meeting().tryLock();
      try {
        post(what, free ? 1 : 0, purpose);
        awaitOthers(what, purpose);
        checkPurpose(what, purpose);
        if (least.get(0) == 1) {
          call(
              what,
              options.collectiveTimeout(),
              () -> {
                section.run(comm);
                return null;
              });
          return;
        }
      } finally {
        if (free) {
          World.meeting().unlock();
        }
      }
      if (System.nanoTime() - deadlineNs > 0) {
        throw new DeadlineExceededException(what + ": other stores occupy MPI");
      }
      // A different pause on each rank, so that one of two competing groups gets in.
      LockSupport.parkNanos(PAUSE_NS * (Math.min(attempt, 16) + (System.nanoTime() & 15)));
    }
  }

  /**
   * Waits for the other ranks after all have come. A rank that does not continue has ended or
   * hangs, unless it came to leave and did not wait for this one. An interrupt does not end the
   * wait.
   */
  private void awaitOthers(String what, int purpose) {
    long startNs = System.nanoTime();
    try {
      while (!isOver(what)) {
        if (System.nanoTime() - startNs > options.collectiveTimeout().toNanos()) {
          throw new DeadlineExceededException("a rank arrived, but did not continue");
        }
        pause(startNs);
      }
    } catch (DeadlineExceededException e) {
      if (purpose == TO_LEAVE) {
        throw e; // the group is over, the other groups are not
      }
      World.breakDown(
          "%s within %d ms: %s"
              .formatted(what, options.collectiveTimeout().toMillis(), e.getMessage()));
      throw World.lost(what);
    }
  }

  private void checkPurpose(String what, int purpose) {
    if (least.get(1) != purpose || -least.get(2) != purpose) {
      throw new DDStoreException(what + ": a rank of the group has failed and left it");
    }
  }

  private void post(String what, int free, int purpose) {
    sent.put(0, free).put(1, purpose).put(2, -purpose);
    round =
        call(
            what,
            options.callTimeout(),
            () -> comm.iAllReduce(sent, least, sent.capacity(), MPI.INT, MPI.MIN));
  }

  private boolean isOver(String what) {
    if (!World.trouble().isEmpty()) {
      throw World.lost(what);
    }
    boolean over = call(what, options.callTimeout(), round::test);
    if (over) {
      round = null;
    }
    return over;
  }

  private static void pause(long startNs) {
    if (System.nanoTime() - startNs < SPIN_NS) {
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  /** Calls MPI; an error breaks the world, because it may be missing on other ranks. */
  private <T> T call(String what, Duration limit, MpiCalls.Call<T> call) {
    return world
        .calls()
        .call(
            what,
            options.collectiveTimeout(),
            limit,
            () -> {
              try {
                return call.run();
              } catch (MPIException e) {
                World.breakDown(MpiCalls.failure(what, e).getMessage());
                throw e;
              }
            });
  }
}
