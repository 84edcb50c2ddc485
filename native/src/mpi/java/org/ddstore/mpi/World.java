// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import mpi.Group;
import mpi.Intracomm;
import mpi.MPI;
import mpi.MPIException;
import org.ddstore.types.FrozenMembershipException;
import org.ddstore.types.Loggers;

/**
 * The MPI world of this JVM. MPI can be initialised once per process, so there is one world,
 * created by the first ranks that join and then kept. Groups of its members, one per store, come
 * and go.
 */
final class World {
  private static final System.Logger LOG = Loggers.of(World.class);

  /**
   * Lock held while this JVM is in MPI calls that wait for other ranks. Without it, two groups that
   * are entered in different order on two JVMs would deadlock.
   */
  private static final ReentrantLock MEETING = new ReentrantLock();

  /** Number of groups of this JVM that have windows or are about to create them. */
  private static final AtomicInteger GROUPS = new AtomicInteger();

  /** Objects that MPI may still use; never freed. */
  private static final Queue<Object> KEPT = new ConcurrentLinkedQueue<>();

  private static World current; // guarded by MEETING
  private static volatile String trouble = "";

  private final int number;
  private final int rank;
  private final int size;
  private final MpiCalls calls;
  private final ProgressServer progress;
  private final String description;

  /**
   * @param number number of the world, the same on all members and unique
   * @param progress null if reads from this process need no help of it
   */
  World(
      int number, int rank, int size, MpiCalls calls, ProgressServer progress, String description) {
    this.number = number;
    this.rank = rank;
    this.size = size;
    this.calls = calls;
    this.progress = progress;
    this.description = description;
  }

  /**
   * Sets a world that mpirun has started as the world of this JVM.
   *
   * @throws IllegalStateException if this JVM is already in a world
   */
  static void adopt(World world) {
    MEETING.lock();
    try {
      if (current != null) {
        throw new IllegalStateException("this JVM is already in an MPI world: " + current);
      }
      current = world;
    } finally {
      MEETING.unlock();
    }
  }

  /** Returns the world of this JVM; null if there is none. The caller holds {@link #meeting()}. */
  static World current() {
    return current;
  }

  /** Starts the world of this JVM, once per process. The caller holds {@link #meeting()}. */
  static World begin(Supplier<World> start) {
    try {
      current = start.get();
      return current;
    } catch (RuntimeException | Error e) {
      breakDown("MPI start failed: " + e);
      throw e;
    }
  }

  /**
   * Creates a group. Collective over its members, all of which hold {@link #meeting()}.
   *
   * @param members ranks of this world, in the order of the group
   */
  WindowTransport open(int[] members, MpiOptions options) {
    Intracomm comm;
    try {
      comm =
          calls.meet("MPI_Comm_create_group", options.collectiveTimeout(), () -> groupOf(members));
    } catch (RuntimeException e) {
      breakDown("creation of a group failed: " + e.getMessage());
      throw e;
    }
    return new WindowTransport(this, members, new Gathering(this, comm, options), options);
  }

  private static Intracomm groupOf(int[] members) throws MPIException {
    Group all = MPI.COMM_WORLD.getGroup();
    try {
      Group some = all.incl(members);
      try {
        Intracomm comm = MPI.COMM_WORLD.createGroup(some, members[0]);
        comm.setErrhandler(MPI.ERRORS_RETURN);
        return comm;
      } finally {
        some.free();
      }
    } finally {
      all.free();
    }
  }

  int number() {
    return number;
  }

  int rank() {
    return rank;
  }

  MpiCalls calls() {
    return calls;
  }

  /** Records that the windows of a group can be read from now on. */
  void beginServing() {
    GROUPS.incrementAndGet();
    if (progress != null) {
      progress.begin();
    }
  }

  /** Ends one group that was recorded by {@link #beginServing}. */
  void endServing() {
    GROUPS.decrementAndGet();
    if (progress != null) {
      progress.end();
    }
  }

  /** Keeps serving a group that has ended but whose rows are readable until the process ends. */
  void keepServing() {
    GROUPS.decrementAndGet();
    if (progress != null && !trouble.isEmpty()) {
      progress.end(); // no rank reads in a broken world
    }
  }

  /** Tells a process that it is read from, if it must help. Called inside {@link MpiCalls}. */
  void announce(int worldRank) throws MPIException {
    if (progress != null && worldRank != rank) {
      progress.announce(worldRank);
    }
  }

  static ReentrantLock meeting() {
    return MEETING;
  }

  /** Keeps an object that MPI may still use until the process ends. */
  static void keep(Object used) {
    KEPT.add(used);
  }

  /**
   * Marks the world as unusable for all its groups. Logs a warning only while there are groups,
   * because executors of an application that ends go one after the other.
   */
  static void breakDown(String reason) {
    if (trouble.isEmpty()) {
      trouble = reason;
      LOG.log(
          GROUPS.get() > 0 ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
          "MPI world of this JVM is unusable: {0}",
          reason);
    }
  }

  /** Returns why this world is unusable; empty if it is usable. */
  static String trouble() {
    return trouble;
  }

  /** Returns the exception to throw when the world is unusable. */
  static FrozenMembershipException lost(String what) {
    return new FrozenMembershipException(
        "%s: %s. MPI membership is frozen: all executors of this world have to be replaced"
            .formatted(what, trouble),
        true);
  }

  String description() {
    return description;
  }

  @Override
  public String toString() {
    return "World[%d, rank %d of %d]".formatted(number, rank, size);
  }
}
