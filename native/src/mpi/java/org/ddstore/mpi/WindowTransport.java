// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import mpi.Intracomm;
import mpi.MPI;
import mpi.MPIException;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.Loggers;
import org.ddstore.types.ProcessAddress;

/** The MPI windows of one store. */
final class WindowTransport implements MpiTransport {
  private static final long FIRST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long LAST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private static final System.Logger LOG = Loggers.of(WindowTransport.class);

  private final World world;
  private final int[] worldRanks; // by rank of the group
  private final Gathering gathering;
  private final MpiOptions options;
  private final Map<Nonce, RemoteShard> shards = new ConcurrentHashMap<>();
  private final List<SegmentWindows> windows = new ArrayList<>(); // guarded by this
  private final Set<Nonce> exported = new HashSet<>(); // and not shared yet; guarded by this
  private final Set<Nonce> withdrawn = new HashSet<>(); // guarded by this
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * A segment of another rank, as this rank accesses it.
   *
   * @param rank rank of the owner in the communicator
   */
  record RemoteShard(SegmentWindows windows, int rank, RecordLayout layout) {}

  WindowTransport(World world, int[] worldRanks, Gathering gathering, MpiOptions options) {
    this.world = world;
    this.worldRanks = worldRanks.clone();
    this.gathering = gathering;
    this.options = options;
    world.beginServing();
  }

  @Override
  public String description() {
    return "mpi, " + world.description();
  }

  @Override
  public ProcessAddress local() {
    return options.local();
  }

  @Override
  public synchronized void export(Segment segment) {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    if (!segment.retain()) {
      throw new IllegalStateException("freed: " + segment);
    }
    exported.add(segment.nonce());
  }

  @Override
  public void share(Segment own, List<SegmentAddress> all) {
    gathering.run(
        "windows over " + own, options.collectiveTimeout(), comm -> add(make(comm, own), all));
  }

  /** Creates windows. A failure here can leave windows through which others access the memory. */
  private SegmentWindows make(Intracomm comm, Segment own) throws MPIException {
    try {
      return new SegmentWindows(comm, own);
    } catch (MPIException | RuntimeException | Error e) {
      World.keep(own);
      notExported(own);
      throw e;
    }
  }

  private synchronized void notExported(Segment own) {
    exported.remove(own.nonce());
  }

  private synchronized void add(SegmentWindows made, List<SegmentAddress> all) {
    exported.remove(made.own().nonce());
    windows.add(made);
    for (int rank = 0; rank < all.size(); rank++) {
      shards.put(all.get(rank).nonce(), new RemoteShard(made, rank, made.layout(rank)));
    }
  }

  @Override
  public synchronized void withdraw(Segment segment) {
    if (exported.remove(segment.nonce())) {
      segment.release(); // no window of it was created
    } else {
      withdrawn.add(segment.nonce());
    }
  }

  RemoteShard shard(Nonce nonce) {
    RemoteShard shard = shards.get(nonce);
    if (shard == null) {
      throw new DDStoreException("no window over segment %s in %s".formatted(nonce, this));
    }
    return shard;
  }

  /** Tells an owner, by its rank in the group, that it is read. Inside {@link MpiCalls}. */
  void announce(int rank) throws MPIException {
    world.announce(worldRanks[rank]);
  }

  World world() {
    return world;
  }

  Duration callTimeout() {
    return options.callTimeout();
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return new WindowReader(this, timeout);
  }

  @Override
  public void release() {
    if (MpiCalls.isFinalized()) {
      forget();
      return;
    }
    gathering.run(
        "release of windows",
        options.collectiveTimeout(),
        comm -> {
          int[] flags = withdrawnFlags();
          comm.allReduce(flags, flags.length, MPI.INT, MPI.MIN);
          free(flags);
        });
  }

  private synchronized int[] withdrawnFlags() {
    return windows.stream().mapToInt(w -> withdrawn.contains(w.own().nonce()) ? 1 : 0).toArray();
  }

  /**
   * Frees windows.
   *
   * @param freed 1 for each window to free, in the order of their creation
   */
  private synchronized void free(int... freed) throws MPIException {
    List<SegmentWindows> kept = new ArrayList<>();
    for (int i = 0; i < windows.size(); i++) {
      SegmentWindows each = windows.get(i);
      if (freed[i] == 0) {
        kept.add(each);
        continue;
      }
      each.free();
      shards.values().removeIf(shard -> shard.windows() == each);
      withdrawn.remove(each.own().nonce());
      each.own().release();
    }
    windows.clear();
    windows.addAll(kept);
  }

  @Override
  public void close(Duration patience) {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    Thread leaving = new Thread(this::leave, "ddstore-mpi-leave");
    leaving.setDaemon(true);
    leaving.start();
    try {
      leaving.join(patience.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (leaving.isAlive()) {
      LOG.log(
          System.Logger.Level.DEBUG,
          "shared memory of {0} stays allocated until all ranks have closed it",
          this);
    }
  }

  /**
   * Waits for the other ranks for the collective timeout. A rank that does not come was lost on
   * another host, where that goes unnoticed, or still reads although the job has failed. In both
   * cases the memory stays allocated until the process ends, and reads are still served.
   */
  private void leave() {
    try {
      long deadlineNs = System.nanoTime() + options.collectiveTimeout().toNanos();
      long pauseNs = FIRST_PAUSE_NS;
      while (!haveAllLeft()) {
        if (System.nanoTime() - deadlineNs > 0) {
          throw new DeadlineExceededException(
              "not all ranks have closed %s within %d ms"
                  .formatted(this, options.collectiveTimeout().toMillis()));
        }
        LockSupport.parkNanos(pauseNs);
        pauseNs = Math.min(pauseNs + pauseNs / 4, LAST_PAUSE_NS);
      }
      gathering.finish(this::end);
      world.endServing();
    } catch (RuntimeException e) {
      if (MpiCalls.isFinalized()) {
        forget();
        world.endServing();
      } else {
        World.keep(this);
        world.keepServing();
        LOG.log(
            System.Logger.Level.WARNING,
            "segments stay in memory until the process ends: {0}",
            e.getMessage());
      }
    }
  }

  private boolean haveAllLeft() {
    try {
      return gathering.allLeave();
    } catch (DeadlineExceededException e) {
      return false; // other threads are in MPI; the ranks that have come keep waiting
    }
  }

  /** Drops all windows, which have ended with MPI. */
  private synchronized void forget() {
    windows.forEach(each -> each.own().release());
    windows.clear();
    shards.clear();
  }

  private synchronized void end(Intracomm comm) throws MPIException {
    int[] all = new int[windows.size()];
    Arrays.fill(all, 1);
    free(all);
    comm.free();
  }

  @Override
  public String toString() {
    return "MpiTransport[%s, %s]".formatted(world, options.local());
  }
}
