package org.ddstore.mpi;

import java.nio.IntBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import mpi.Intracomm;
import mpi.MPI;
import mpi.Request;

/**
 * How the ranks of one group come together before they call MPI in a way that blocks until all have
 * called. They meet by calls that do not block, so that a rank that does not come is an error and
 * no hang.
 */
final class Gathering {
  private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(100);

  private final World world;
  private final Intracomm comm;
  private final MpiOptions options;

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
     * @param agreed the smallest of what the ranks gave, number by number
     */
    void run(Intracomm comm, int[] agreed) throws mpi.MPIException;
  }

  /**
   * Runs a section on all ranks, when all of them have come and no JVM is in one of another group.
   * Collective.
   *
   * @param mine the same count on all ranks
   * @throws org.ddstore.FrozenMembershipException if ranks do not come
   */
  void run(String what, Duration patience, Section section, int... mine) {
    long deadlineNs = System.nanoTime() + patience.toNanos();
    for (int attempt = 1; ; attempt++) {
      boolean free = world.meeting().tryLock();
      try {
        int[] agreed = agree(what, deadlineNs, patience, with(free ? 1 : 0, mine));
        if (agreed[0] == 1) {
          world
              .calls()
              .call(
                  what,
                  options.collectiveTimeout(),
                  options.collectiveTimeout(),
                  () -> {
                    section.run(comm, Arrays.copyOfRange(agreed, 1, agreed.length));
                    return null;
                  });
          return;
        }
      } finally {
        if (free) {
          world.meeting().unlock();
        }
      }
      // Not the same on all ranks, so that one of two groups gets in between.
      LockSupport.parkNanos(PAUSE_NS * (attempt + (System.nanoTime() & 15)));
    }
  }

  private static int[] with(int first, int... rest) {
    int[] all = new int[rest.length + 1];
    all[0] = first;
    System.arraycopy(rest, 0, all, 1, rest.length);
    return all;
  }

  /** The smallest of each number. An interrupt does not end it: ranks that come apart are lost. */
  private int[] agree(String what, long deadlineNs, Duration patience, int... mine) {
    if (!World.trouble().isEmpty()) {
      throw World.lost(what);
    }
    IntBuffer sent = MPI.newIntBuffer(mine.length).put(0, mine);
    IntBuffer received = MPI.newIntBuffer(mine.length);
    Request request =
        call(what, () -> comm.iAllReduce(sent, received, mine.length, MPI.INT, MPI.MIN));
    long startNs = System.nanoTime();
    while (!call(what, request::test)) {
      long now = System.nanoTime();
      if (now - deadlineNs > 0) {
        World.breakDown(
            "not all ranks came to \"%s\" within %d ms".formatted(what, patience.toMillis()));
        throw World.lost(what);
      }
      if (now - startNs < SPIN_NS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
    int[] agreed = new int[mine.length];
    received.get(0, agreed);
    return agreed;
  }

  private <T> T call(String what, MpiCalls.Call<T> call) {
    return world.calls().call(what, options.collectiveTimeout(), options.callTimeout(), call);
  }

  int rank() {
    return call("MPI_Comm_rank", comm::getRank);
  }
}
