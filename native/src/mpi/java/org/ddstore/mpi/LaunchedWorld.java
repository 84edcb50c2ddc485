// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import mpi.Intracomm;
import mpi.MPI;
import mpi.Request;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Loggers;

/** An MPI world that mpirun has started. Lanes are files on one host, else MPI messages. */
final class LaunchedWorld implements LaunchedRanks {
  private static final System.Logger LOG = Loggers.of(LaunchedWorld.class);

  private static final int NUMBER = 1;

  /** Size of a start message in bytes: two bytes of length, followed by that many bytes. */
  private static final int MESSAGE_BYTES = 512;

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final MpiCalls calls;
  private final Intracomm comm; // of all ranks, for the calls of this class
  private final MpiOptions options;
  private final ProcessDirectory directory;
  private final MpiMessenger messenger; // null on one host
  private final LaneExchange lanes;
  private final Communicator communicator;

  private LaunchedWorld(
      MpiCalls calls, Intracomm comm, MpiOptions options, ProcessDirectory directory, int size)
      throws IOException {
    this.calls = calls;
    this.comm = comm;
    this.options = options;
    this.directory = directory;
    List<byte[]> hosts = tellAll(HostIdentity.ofThisProcess().getBytes(StandardCharsets.UTF_8));
    boolean isOneHost = hosts.stream().map(ByteBuffer::wrap).distinct().count() == 1;
    this.messenger = isOneHost ? null : new MpiMessenger(calls, comm, options.local());
    this.lanes =
        isOneHost
            ? LaneExchange.overFiles(directory)
            : LaneExchange.overFilesAndMessages(directory, messenger);
    int rank = calls.call("MPI_Comm_rank", limit(), limit(), comm::getRank);
    try (GroupEndpoint endpoint = GroupEndpoint.create(lanes, rank, size)) {
      List<byte[]> addresses = tellAll(endpoint.address());
      if (messenger != null) {
        messenger.start(addresses.stream().map(a -> GroupEndpoint.process(a).orElseThrow()));
      }
      this.communicator = endpoint.connect(addresses, limit());
    }
  }

  /** Implements {@link MpiBinding#launch}. */
  static LaunchedWorld start(Launch launch, MpiOptions options) {
    ProcessDirectory directory = ProcessDirectory.acquire(options.directory());
    WorldEnvironment environment =
        WorldEnvironment.ofLaunched(
            System.getenv(),
            new WorldEnvironment.Ranks(
                launch.spansHosts(),
                WorldEnvironment.hasRdmaDevice(),
                ProcessManager.mayReadProcesses(),
                launch.localSize() > Runtime.getRuntime().availableProcessors()),
            directory.path());
    environment.apply();
    // No neighbours to watch here: mpirun ends all processes when one has died.
    MpiCalls calls = new MpiCalls(new Watchdog(Map.of()));
    Intracomm comm =
        calls.call(
            "MPI_Init_thread",
            options.collectiveTimeout(),
            options.collectiveTimeout(),
            () -> init(launch));
    World.adopt(
        new World(
            NUMBER,
            launch.rank(),
            launch.size(),
            calls,
            environment.needsProgress() ? new ProgressServer(calls, launch.size()) : null,
            "%s, %s"
                .formatted(
                    OpenMpiVersion.shortName(new OpenMpi().libraryVersion()),
                    environment.description())));
    LOG.log(
        System.Logger.Level.DEBUG, "launch by mpirun: {0}; set: {1}", launch, environment.ours());
    try {
      return new LaunchedWorld(calls, comm, options, directory, launch.size());
    } catch (IOException e) {
      throw new DDStoreException("rank %d cannot reach the others".formatted(launch.rank()), e);
    }
  }

  private static Intracomm init(Launch launch) throws mpi.MPIException {
    int level = MPI.InitThread(new String[0], MPI.THREAD_SERIALIZED);
    MPI.COMM_WORLD.setErrhandler(MPI.ERRORS_RETURN);
    int rank = MPI.COMM_WORLD.getRank();
    int size = MPI.COMM_WORLD.getSize();
    if (rank != launch.rank() || size != launch.size() || level < MPI.THREAD_SERIALIZED) {
      throw new DDStoreException(
          "MPI started as rank %d of %d with thread level %d, expected %s: the library belongs to another Open MPI than mpirun"
              .formatted(rank, size, level, launch));
    }
    Intracomm comm = MPI.COMM_WORLD.dup();
    comm.setErrhandler(MPI.ERRORS_RETURN);
    return comm;
  }

  /** Sends each rank's bytes, at most {@value #MESSAGE_BYTES} - 2, to all. Collective. */
  private List<byte[]> tellAll(byte[] mine) {
    if (mine.length > MESSAGE_BYTES - Short.BYTES) {
      throw new IllegalArgumentException(
          "%d bytes, %d at most".formatted(mine.length, MESSAGE_BYTES - Short.BYTES));
    }
    byte[] message =
        ByteBuffer.allocate(MESSAGE_BYTES).putShort((short) mine.length).put(mine).array();
    ByteBuffer all =
        calls.call(
            "MPI_Allgather",
            limit(),
            limit(),
            () -> {
              byte[] gathered = new byte[comm.getSize() * MESSAGE_BYTES];
              comm.allGather(message, MESSAGE_BYTES, MPI.BYTE, gathered, MESSAGE_BYTES, MPI.BYTE);
              return ByteBuffer.wrap(gathered);
            });
    List<byte[]> texts = new ArrayList<>();
    for (int at = 0; at < all.capacity(); at += MESSAGE_BYTES) {
      byte[] text = new byte[all.getShort(at)];
      all.get(at + Short.BYTES, text);
      texts.add(text);
    }
    return texts;
  }

  private Duration limit() {
    return options.collectiveTimeout();
  }

  @Override
  public Communicator communicator() {
    return communicator;
  }

  @Override
  public boolean meet(Duration patience) {
    if (!World.trouble().isEmpty()) {
      return false;
    }
    long deadlineNs = System.nanoTime() + patience.toNanos();
    Request request = calls.call("MPI_Ibarrier", limit(), limit(), comm::iBarrier);
    while (!calls.call("MPI_Ibarrier", limit(), limit(), request::test)) {
      if (System.nanoTime() - deadlineNs > 0) {
        World.breakDown(
            "not all ranks reached the end within %d ms".formatted(patience.toMillis()));
        return false;
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
    return true;
  }

  @Override
  public boolean end() {
    communicator.close();
    lanes.close();
    if (messenger != null) {
      messenger.drain(limit());
    }
    boolean together = meet(limit()); // all messages of the others have arrived
    if (messenger != null) {
      messenger.close();
    }
    if (together) {
      calls.last(
          "MPI_Finalize",
          limit(),
          () -> {
            comm.free();
            MPI.Finalize();
            return null;
          });
    }
    directory.release();
    return together;
  }

  @Override
  public String toString() {
    return "LaunchedWorld[%s]".formatted(communicator);
  }
}
