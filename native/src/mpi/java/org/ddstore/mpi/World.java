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

/**
 * The MPI world of this JVM. MPI can be initialised once in a process, so there is one world, made
 * by the first ranks that join and kept; groups of its members, for one store each, come and go.
 */
final class World {
  private static final System.Logger LOG = System.getLogger(World.class.getName());

  /**
   * Held while this JVM is in calls of MPI that wait for others: two groups that did so at once,
   * one first here and the other there, would wait for each other for ever.
   */
  private static final ReentrantLock MEETING = new ReentrantLock();

  /** Groups of this JVM that have windows, or are about to. */
  private static final AtomicInteger GROUPS = new AtomicInteger();

  /** What MPI may still use although nobody else does: never freed. */
  private static final Queue<Object> KEPT = new ConcurrentLinkedQueue<>();

  private static World current; // guarded by MEETING
  private static volatile String trouble = "";

  private final int number;
  private final int rank;
  private final int size;
  private final MpiCalls calls;
  private final Progress progress;
  private final String description;

  /**
   * @param number the same on all members, and no other world's
   * @param progress null if reads from this process do without its help
   */
  World(int number, int rank, int size, MpiCalls calls, Progress progress, String description) {
    this.number = number;
    this.rank = rank;
    this.size = size;
    this.calls = calls;
    this.progress = progress;
    this.description = description;
  }

  /**
   * Makes a world, that mpirun has started, the one of this JVM.
   *
   * @throws IllegalStateException if this JVM is in one
   */
  static void adopt(World world) {
    MEETING.lock();
    try {
      if (current != null) {
        throw new IllegalStateException("this JVM is in a world of MPI: " + current);
      }
      current = world;
    } finally {
      MEETING.unlock();
    }
  }

  /** The one of this JVM; null if there is none. The caller holds {@link #meeting()}. */
  static World current() {
    return current;
  }

  /**
   * The one of this JVM from now on. The caller holds {@link #meeting()}. MPI starts once in a
   * process: when that fails, the process has to be replaced.
   */
  static World begin(Supplier<World> start) {
    try {
      current = start.get();
      return current;
    } catch (RuntimeException | Error e) {
      breakDown("it did not start: " + e);
      throw e;
    }
  }

  /**
   * Makes a group. Collective over its members, all of which hold {@link #meeting()}.
   *
   * @param members ranks of this world, in the order of the group
   */
  WindowTransport open(int[] members, MpiOptions options) {
    Intracomm comm;
    try {
      comm =
          calls.meet("MPI_Comm_create_group", options.collectiveTimeout(), () -> groupOf(members));
    } catch (RuntimeException e) {
      breakDown("a group of it was not made: " + e.getMessage());
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

  /** A group's windows may be read from now on. */
  void beginServing() {
    GROUPS.incrementAndGet();
    if (progress != null) {
      progress.begin();
    }
  }

  /** What {@link #beginServing} said is over. */
  void endServing() {
    GROUPS.decrementAndGet();
    if (progress != null) {
      progress.end();
    }
  }

  /**
   * A group has come to an end whose rows stay in memory, and may be read until the process ends.
   */
  void keepServing() {
    GROUPS.decrementAndGet();
    if (progress != null && !trouble.isEmpty()) {
      progress.end(); // nobody reads in a world that has come apart
    }
  }

  /** Tells a process that it is being read from, if it has to help. Inside {@link MpiCalls}. */
  void announce(int worldRank) throws MPIException {
    if (progress != null && worldRank != rank) {
      progress.announce(worldRank);
    }
  }

  /** See {@link #MEETING}. */
  static ReentrantLock meeting() {
    return MEETING;
  }

  /** Keeps what MPI may still use, as long as the process lives. */
  static void keep(Object used) {
    KEPT.add(used);
  }

  /**
   * No group of this world can be used any more. Nobody minds where there is none: the executors of
   * an application that ends go one after the other.
   */
  static void breakDown(String reason) {
    if (trouble.isEmpty()) {
      trouble = reason;
      LOG.log(
          GROUPS.get() > 0 ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
          "the MPI world of this JVM is of no use any more: {0}",
          reason);
    }
  }

  /** Why this world is of no use any more; empty if it is. */
  static String trouble() {
    return trouble;
  }

  /** What to throw when the world is of no use any more. */
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
