// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.collective.Communicator;
import org.ddstore.types.DeadlineExceededException;

/** The procedure by which ranks join one world and a group of it. See {@link Mpi#join}. */
final class Joining {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Random number that identifies this JVM. */
  private static final long PROCESS = RANDOM.nextLong();

  /** Mask of job numbers; Open MPI keeps 15 of the lower 16 bits. */
  private static final int JOB_BITS = 0x7FFF_7FFF;

  private final Communicator ranks;
  private final int color;
  private final MpiOptions options;

  Joining(Communicator ranks, int color, MpiOptions options) {
    this.ranks = ranks;
    this.color = color;
    this.options = options;
  }

  /** Joins the ranks. Collective. Not interruptible, as the others would stay in MPI alone. */
  WindowTransport join() {
    Membership members = meet();
    try {
      members.check();
      boolean joined = members.isJoined();
      World world = joined ? World.current() : new WorldStart(ranks, members, options).start();
      int[] group =
          Arrays.stream(members.group(color))
              .map(r -> joined ? members.members().get(r).worldRank() : r)
              .toArray();
      return world.open(group, options);
    } finally {
      World.meeting().unlock();
    }
  }

  /** Exchanges the members at a time when all can enter MPI; then holds the meeting lock. */
  private Membership meet() {
    long deadlineNs = System.nanoTime() + options.collectiveTimeout().toNanos();
    for (int attempt = 0; ; attempt++) {
      boolean free = World.meeting().tryLock();
      boolean kept = false;
      Membership members;
      try {
        boolean late = System.nanoTime() - deadlineNs > 0;
        members =
            Membership.parse(ranks.exchange("MPI membership", () -> member(free, late).toBytes()));
        members.checkOneRankAProcess(); // otherwise they would wait for each other here
        kept = members.allFree();
        if (kept) {
          return members;
        }
      } finally {
        if (free && !kept) {
          World.meeting().unlock();
        }
      }
      if (members.anyLate()) { // all ranks give up in the same round
        throw new DeadlineExceededException(
            "the ranks could not enter MPI within %d ms: other stores occupy it"
                .formatted(options.collectiveTimeout().toMillis()));
      }
      long pauseMs = 1 + Integer.toUnsignedLong(Objects.hash(members.job(), attempt)) % 20;
      LockSupport.parkNanos(Duration.ofMillis(pauseMs).toNanos());
    }
  }

  private Member member(boolean free, boolean late) {
    World world = free ? World.current() : null;
    return new Member(
        free,
        late,
        PROCESS,
        world == null ? 0 : world.number(),
        world == null ? 0 : world.rank(),
        trouble(world),
        (RANDOM.nextInt() & JOB_BITS) | 1,
        color,
        HostIdentity.ofThisProcess(),
        WorldEnvironment.hasRdmaDevice(),
        ProcessManager.mayReadProcesses(),
        WorldEnvironment.choices(System.getenv()),
        ProcessHandle.current().pid(),
        "process %d at %s".formatted(ProcessHandle.current().pid(), options.local()));
  }

  private static String trouble(World world) {
    return world != null && World.trouble().isEmpty() && MpiCalls.isFinalized()
        ? "MPI was finalised there"
        : World.trouble();
  }
}
