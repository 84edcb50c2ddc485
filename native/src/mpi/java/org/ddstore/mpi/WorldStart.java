// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.util.LinkedHashMap;
import java.util.Map;
import mpi.MPI;
import mpi.MPIException;
import org.ddstore.collective.Communicator;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Loggers;

/** The start of MPI, once in each process, in processes that are already running. */
final class WorldStart {
  private static final System.Logger LOG = Loggers.of(WorldStart.class);

  private final Communicator ranks;
  private final Membership members;
  private final MpiOptions options;
  private final StartExchange exchange;
  private final int[] clique;
  private ProcessDirectory directory;
  private WorldEnvironment environment;

  WorldStart(Communicator ranks, Membership members, MpiOptions options) {
    this.ranks = ranks;
    this.members = members;
    this.options = options;
    this.exchange = new StartExchange(ranks);
    this.clique = members.clique(ranks.rank());
  }

  /**
   * Starts MPI. Collective. Until all ranks are ready, an error on one is raised on all, and they
   * can try again. After that a rank that fails takes the others with it, because MPI_Init aborts
   * by ending processes.
   */
  World start() {
    try {
      ranks.exchange("MPI readiness", this::prepare);
    } catch (RuntimeException | Error e) {
      ProcessManager.close();
      if (directory != null) {
        directory.release();
      }
      throw e;
    }
    return World.begin(this::initialize);
  }

  private byte[] prepare() {
    directory = ProcessDirectory.acquire(options.directory()); // kept until the process ends
    environment =
        WorldEnvironment.of(
            System.getenv(),
            new WorldEnvironment.Ranks(
                members.spansHosts(),
                members.haveRdma(),
                members.mayReadProcesses(),
                clique.length > Runtime.getRuntime().availableProcessors()),
            options.local().host(),
            directory.path());
    ProcessManager.open(ranks.rank(), ranks.size(), clique, exchange);
    return new byte[0];
  }

  private World initialize() {
    environment.identify(members.job(), NativeLibrary.path());
    environment.apply();
    MpiCalls calls = new MpiCalls(new Watchdog(neighbours()));
    try {
      World world =
          calls.call(
              "MPI_Init_thread",
              options.collectiveTimeout(),
              options.collectiveTimeout(),
              () -> initialize(calls));
      exchange.end();
      return world;
    } catch (DDStoreException e) {
      if (exchange.failure() != null) {
        e.addSuppressed(exchange.failure());
      }
      throw e;
    }
  }

  private World initialize(MpiCalls calls) throws MPIException {
    int level = MPI.InitThread(new String[0], MPI.THREAD_SERIALIZED);
    MPI.COMM_WORLD.setErrhandler(MPI.ERRORS_RETURN);
    int rank = MPI.COMM_WORLD.getRank();
    int size = MPI.COMM_WORLD.getSize();
    if (rank != ranks.rank() || size != ranks.size() || level < MPI.THREAD_SERIALIZED) {
      throw new DDStoreException(
          "MPI started as rank %d of %d with thread level %d, expected rank %d of %d: it did not use the process manager of DDStore"
              .formatted(rank, size, level, ranks.rank(), ranks.size()));
    }
    ProgressServer progress = environment.needsProgress() ? new ProgressServer(calls, size) : null;
    String description =
        "%s, %s"
            .formatted(OpenMpiVersion.shortName(MPI.getLibVersion()), environment.description());
    LOG.log(
        System.Logger.Level.DEBUG,
        "MPI world {0} of {1} ranks: {2}; set: {3}; hidden: {4}",
        Integer.toString(members.job()),
        Integer.toString(size),
        description,
        environment.ours(),
        environment.hidden());
    return new World(members.job(), rank, size, calls, progress, description);
  }

  /** Returns the other processes of this host, by their names. */
  private Map<String, ProcessHandle> neighbours() {
    Map<String, ProcessHandle> neighbours = new LinkedHashMap<>();
    for (int other : clique) {
      if (other != ranks.rank()) {
        Member member = members.members().get(other);
        ProcessHandle.of(member.pid()).ifPresent(process -> neighbours.put(member.name(), process));
      }
    }
    return neighbours;
  }
}
