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
 * How the ranks of one group come together before they call MPI in a way that blocks until all have
 * called. They meet in rounds that do not block: in each one every rank says what it came for and
 * whether its JVM is free for it. So a rank that does not come, or has left, is an error and no
 * hang.
 *
 * <p>A rank may give up while it waits for the first round of a section: the round stays under way,
 * and the next one says that the rank leaves. Once all have come, nobody goes any more, and a rank
 * that does not answer then has broken the world. Used by one thread at a time.
 */
final class Gathering {
  private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(100);

  /** What a rank comes for that takes part in nothing any more; sections count from 1 on. */
  private static final int TO_LEAVE = 0;

  private final World world;
  private final Intracomm comm;
  private final MpiOptions options;

  /** Free (1) or not (0), purpose, its negative; MPI gives the smallest of each. */
  private final IntBuffer sent = MPI.newIntBuffer(3);

  private final IntBuffer least = MPI.newIntBuffer(3);
  private Request round; // under way: MPI uses the buffers; null if none is
  private int sections;

  Gathering(World world, Intracomm comm, MpiOptions options) {
    this.world = world;
    this.comm = comm;
    this.options = options;
  }

  /** What blocks until all ranks have called it. */
  @FunctionalInterface
  interface Section {
    /**
     * Calls MPI, as all ranks do.
     *
     * @param comm of the group
     */
    void run(Intracomm comm) throws MPIException;
  }

  /**
   * Runs a section on all ranks, when all of them have come and no JVM is in one of another group.
   * Collective.
   *
   * @param patience how long ranks may be apart
   * @throws DeadlineExceededException if ranks do not come, or have no time
   * @throws CollectiveInterruptedException if the thread is interrupted before all have come
   * @throws DDStoreException if a rank has left
   * @throws org.ddstore.types.FrozenMembershipException if the world has come apart
   */
  void run(String what, Duration patience, Section section) {
    if (round != null) {
      throw new DDStoreException(what + ": this rank has given up a call before");
    }
    int purpose = ++sections;
    long deadlineNs = System.nanoTime() + patience.toNanos();
    post(what, 0, purpose);
    long startNs = System.nanoTime();
    while (!isOver(what)) {
      if (Thread.currentThread().isInterrupted()) {
        throw new CollectiveInterruptedException(what + ": interrupted while ranks came");
      }
      if (System.nanoTime() - deadlineNs > 0) {
        throw new DeadlineExceededException(
            "not all ranks came to \"%s\" within %d ms".formatted(what, patience.toMillis()));
      }
      pause(startNs);
    }
    enter(what, purpose, deadlineNs, section);
  }

  /**
   * Tells the other ranks that this one takes part in nothing any more. Does not block.
   *
   * @return true once all ranks have said so; then {@link #finish} is to be called
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
   * @throws DeadlineExceededException if other stores hold MPI as long as ranks wait for each other
   */
  void finish(Section section) {
    long deadlineNs = System.nanoTime() + options.collectiveTimeout().toNanos();
    enter("close", TO_LEAVE, deadlineNs, section);
  }

  /** All ranks have come, and no other group's meeting may be under way in any JVM. */
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
        throw new DeadlineExceededException(what + ": other stores hold MPI");
      }
      // Not the same on all ranks, so that one of two groups gets in between.
      LockSupport.parkNanos(PAUSE_NS * (Math.min(attempt, 16) + (System.nanoTime() & 15)));
    }
  }

  /**
   * All have come: who does not go on has ended or hangs, unless it came to leave and did not wait
   * for this one. An interrupt does not end it.
   */
  private void awaitOthers(String what, int purpose) {
    long startNs = System.nanoTime();
    try {
      while (!isOver(what)) {
        if (System.nanoTime() - startNs > options.collectiveTimeout().toNanos()) {
          throw new DeadlineExceededException("a rank came, and did not go on");
        }
        pause(startNs);
      }
    } catch (DeadlineExceededException e) {
      if (purpose == TO_LEAVE) {
        throw e; // the group is over, the others are not
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

  /** What MPI refuses here it has not refused elsewhere, or not yet: the ranks are apart. */
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
