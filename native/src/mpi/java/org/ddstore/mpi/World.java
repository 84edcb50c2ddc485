package org.ddstore.mpi;

import java.io.ByteArrayOutputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import mpi.Intracomm;
import mpi.MPI;
import mpi.MPIException;
import org.ddstore.DDStoreException;
import org.ddstore.DeadlineExceededException;
import org.ddstore.FrozenMembershipException;
import org.ddstore.collective.Communicator;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.nativeio.NativeLibrary;

/**
 * The MPI world of this JVM. MPI can be initialised once in a process, so there is one world, made
 * by the first ranks that join and kept; groups of its members, for one store each, come and go.
 */
final class World {
  private static final System.Logger LOG = System.getLogger(World.class.getName());
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Of this JVM. */
  private static final long PROCESS = RANDOM.nextLong();

  /**
   * Held while this JVM is in calls of MPI that wait for others: two groups that did so at once,
   * one first here and the other there, would wait for each other for ever.
   */
  private static final ReentrantLock MEETING = new ReentrantLock();

  /** Open MPI keeps 15 of the lower 16 bits of a job's number. */
  private static final int JOB_BITS = 0x7FFF_7FFF;

  private static World current; // guarded by MEETING
  private static volatile String trouble = "";

  private final int number;
  private final int rank;
  private final int size;
  private final MpiCalls calls;
  private final Progress progress;
  private final String description;

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

  /** See {@link Mpi#join}. */
  static WindowTransport join(Communicator ranks, int color, MpiOptions options) {
    Membership members = meet(ranks, color, options);
    try {
      members.check();
      if (!members.isJoined()) {
        current = start(ranks, members, options);
      }
      return current.open(members, color, options);
    } finally {
      MEETING.unlock();
    }
  }

  /** Tells the members of each other, at a time when all of them may enter MPI; holds MEETING. */
  private static Membership meet(Communicator ranks, int color, MpiOptions options) {
    long pausedMs = 0;
    for (int attempt = 0; pausedMs < options.collectiveTimeout().toMillis(); attempt++) {
      boolean free = MEETING.tryLock();
      boolean kept = false;
      Membership members;
      try {
        members =
            Membership.parse(
                ranks.exchange("MPI membership", () -> member(free, color, options).toBytes()));
        members.checkOneRankAProcess(); // they would wait for each other here
        kept = members.allFree();
        if (kept) {
          return members;
        }
      } finally {
        if (free && !kept) {
          MEETING.unlock();
        }
      }
      long pauseMs = 1 + Integer.toUnsignedLong(Objects.hash(members.job(), attempt)) % 20;
      pausedMs += pauseMs;
      LockSupport.parkNanos(Duration.ofMillis(pauseMs).toNanos());
    }
    throw new DeadlineExceededException(
        "the ranks did not get to MPI within %d ms: other stores hold it"
            .formatted(options.collectiveTimeout().toMillis()));
  }

  private static Member member(boolean free, int color, MpiOptions options) {
    World world = free ? current : null;
    return new Member(
        free,
        PROCESS,
        world == null ? 0 : world.number,
        world == null ? 0 : world.rank,
        trouble,
        (RANDOM.nextInt() & JOB_BITS) | 1,
        color,
        HostIdentity.ofThisProcess(),
        WorldEnvironment.hasRdmaDevice(),
        Objects.requireNonNullElse(System.getenv(WorldEnvironment.OSC), ""),
        ProcessHandle.current().pid(),
        "process %d at %s".formatted(ProcessHandle.current().pid(), options.local()));
  }

  /** MPI starts once in a process: when that fails, the process has to be replaced. */
  private static World start(Communicator ranks, Membership members, MpiOptions options) {
    try {
      return create(ranks, members, options);
    } catch (RuntimeException | Error e) {
      breakDown("it did not start: " + e);
      throw e;
    }
  }

  private static World create(Communicator ranks, Membership members, MpiOptions options) {
    int[] clique = members.clique(ranks.rank());
    WorldEnvironment environment =
        WorldEnvironment.of(
            System.getenv(),
            members.spansHosts(),
            members.hasRdma(),
            options.local().host(),
            clique.length > Runtime.getRuntime().availableProcessors(),
            ProcessDirectory.acquire(options.directory()).path()); // kept as long as the process
    environment.check();
    environment.apply(members.job(), NativeLibrary.path());
    ProcessManager.open(
        ranks.rank(), ranks.size(), clique, mine -> join(ranks.exchange("MPI start", () -> mine)));
    MpiCalls calls = new MpiCalls(new Watchdog(neighbours(ranks.rank(), members)));
    // From here on a rank that fails takes the others with it: MPI_Init gives up by ending
    // processes.
    return calls.call(
        "MPI_Init_thread",
        options.collectiveTimeout(),
        options.collectiveTimeout(),
        () -> {
          int level = MPI.InitThread(new String[0], MPI.THREAD_SERIALIZED);
          MPI.COMM_WORLD.setErrhandler(MPI.ERRORS_RETURN);
          int rank = MPI.COMM_WORLD.getRank();
          int size = MPI.COMM_WORLD.getSize();
          if (rank != ranks.rank() || size != ranks.size() || level < MPI.THREAD_SERIALIZED) {
            throw new DDStoreException(
                "MPI made rank %d of %d, thread level %d, of rank %d of %d: it did not ask our process manager"
                    .formatted(rank, size, level, ranks.rank(), ranks.size()));
          }
          Progress progress =
              environment.needsProgress(ProcessManager.mayReadProcesses())
                  ? new Progress(calls, size)
                  : null;
          String description =
              "%s, %s"
                  .formatted(
                      OpenMpiVersion.shortName(MPI.getLibVersion()), environment.description());
          LOG.log(
              System.Logger.Level.DEBUG,
              "MPI world {0} of {1} ranks: {2}; set: {3}",
              Integer.toString(members.job()),
              Integer.toString(size),
              description,
              environment.ours());
          return new World(members.job(), rank, size, calls, progress, description);
        });
  }

  /** The other processes of this host, by their names. */
  private static Map<String, ProcessHandle> neighbours(int rank, Membership members) {
    Map<String, ProcessHandle> neighbours = new LinkedHashMap<>();
    for (int other : members.clique(rank)) {
      if (other != rank) {
        Member member = members.members().get(other);
        ProcessHandle.of(member.pid()).ifPresent(process -> neighbours.put(member.name(), process));
      }
    }
    return neighbours;
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Arrays.stream(parts).forEach(all::writeBytes);
    return all.toByteArray();
  }

  private WindowTransport open(Membership members, int color, MpiOptions options) {
    int[] worldRanks =
        Arrays.stream(members.group(color))
            .map(r -> members.isJoined() ? members.members().get(r).worldRank() : r)
            .toArray();
    Intracomm comm =
        calls.call(
            "MPI_Comm_create_group",
            options.collectiveTimeout(),
            options.collectiveTimeout(),
            () -> groupOf(worldRanks));
    return new WindowTransport(this, worldRanks, new Gathering(this, comm, options), options);
  }

  private static Intracomm groupOf(int[] worldRanks) throws MPIException {
    Intracomm comm =
        MPI.COMM_WORLD.createGroup(MPI.COMM_WORLD.getGroup().incl(worldRanks), worldRanks[0]);
    comm.setErrhandler(MPI.ERRORS_RETURN);
    return comm;
  }

  MpiCalls calls() {
    return calls;
  }

  /** Others may read from this process, or no longer. */
  void serve(boolean begins) {
    if (progress != null && begins) {
      progress.begin();
    } else if (progress != null) {
      progress.end();
    }
  }

  /** Tells a process that it is being read from, if it has to help. Inside {@link MpiCalls}. */
  void announce(int worldRank) throws MPIException {
    if (progress != null && worldRank != rank) {
      progress.announce(worldRank);
    }
  }

  /** See {@link #MEETING}. */
  ReentrantLock meeting() {
    return MEETING;
  }

  /** No group of this world can be used any more. */
  static void breakDown(String reason) {
    if (trouble.isEmpty()) {
      trouble = reason;
      LOG.log(
          System.Logger.Level.WARNING,
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
        "%s: %s. The processes of an MPI world are its members for good: all executors of it have to be replaced"
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
