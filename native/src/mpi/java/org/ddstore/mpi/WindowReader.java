// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import mpi.MPIException;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;

/**
 * A reader of rows of other processes by MPI windows: the gets of a batch are posted to all owners
 * before any is waited for. Ragged rows take one round for their offsets and one for their data.
 *
 * <p>The owner may change rows of fixed records during a read. Therefore the version words are read
 * after the rows and compared with those of the previous read. Versions only grow, so equal
 * versions prove that nothing has changed since then, and therefore not during the read.
 */
final class WindowReader implements RemoteReader {
  private static final long CHANGING_NS = TimeUnit.MICROSECONDS.toNanos(100);

  private final WindowTransport transport;
  private final Duration timeout;
  private final WindowGets gets = new WindowGets(this::checkAndAnnounce);
  private final Map<Nonce, KnownShard> known = new HashMap<>();
  private final VersionReads versions = new VersionReads();
  private final OffsetReads offsets = new OffsetReads();
  private List<PeerRows> owners = List.of(); // of the read in progress
  private long deadlineNs;
  private boolean unsettled;

  WindowReader(WindowTransport transport, Duration timeout) {
    this.transport = transport;
    this.timeout = timeout;
    begin();
  }

  @Override
  public void begin() {
    deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  @Override
  public void fetch(List<PeerRows> peers) {
    if (!World.trouble().isEmpty()) {
      throw World.lost("read of rows");
    }
    owners = peers;
    try {
      read(peers);
    } finally {
      owners = List.of();
      if (unsettled) {
        abandonMemory(peers);
      }
    }
  }

  private void read(List<PeerRows> peers) {
    List<PeerRows> ragged = peers.stream().filter(rows -> rows.recordBytes() == 0).toList();
    List<PeerRows> fixed = peers.stream().filter(rows -> rows.recordBytes() > 0).toList();
    if (!ragged.isEmpty()) {
      call(() -> offsets.read(gets, ragged, this::known));
      ragged.forEach(rows -> offsets.setLengths(rows));
      ragged.forEach(PeerRows::reserve); // can throw, so it comes before any read is outstanding
      call(() -> offsets.readData(gets, ragged, this::known));
    }
    fixed.forEach(PeerRows::reserve);
    if (!fixed.isEmpty()) {
      versions.choose(fixed, this::known);
      if (versions.anyUnknown()) {
        call(() -> versions.readAll(gets));
        versions.areUnchanged(); // stores the versions
      }
      do {
        call(
            () -> {
              for (PeerRows rows : fixed) {
                postFixed(rows);
              }
            });
        call(() -> versions.readAll(gets));
      } while (!versions.areUnchanged() && awaitStable());
    }
  }

  /** Posts the reads of fixed records: one piece per run of rows and chunk. */
  private void postFixed(PeerRows rows) throws MPIException {
    gets.begin(rows.reserve(), 0);
    for (int run = 0; run < rows.runs(); run++) {
      KnownShard shard = known(rows.segment(run).nonce());
      RecordLayout layout = shard.layout();
      long row = rows.firstRow(run);
      int left = rows.firstSlot(run + 1) - rows.firstSlot(run);
      while (left > 0) {
        long place = layout.place(row);
        int now = (int) Math.min(left, layout.rowsToChunkEnd(row));
        gets.add(
            shard.windows().chunk(Segment.chunkOf(place)),
            shard.rank(),
            Segment.positionOf(place),
            now * layout.recordBytes());
        row += now;
        left -= now;
      }
    }
  }

  /** Announces the read to its owners, which poll MPI often only for a short time. */
  private void announce() throws MPIException {
    for (PeerRows rows : owners) {
      transport.announce(known(rows.segment(0).nonce()).rank());
    }
  }

  /** Checks the deadline and repeats the announcement between two parts of a round. */
  private void checkAndAnnounce() throws MPIException {
    check();
    announce();
  }

  /** Posts the reads of a round and waits for them, as one MPI call. */
  private void call(Round round) {
    check();
    transport
        .world()
        .calls()
        .call(
            "read of rows",
            Duration.ofNanos(Math.max(1, deadlineNs - System.nanoTime())),
            transport.callTimeout(),
            () -> {
              boolean complete = false;
              try {
                announce();
                round.post();
                gets.complete();
                complete = true;
                return null;
              } finally {
                if (!complete && !gets.settle()) {
                  unsettled = true;
                  World.breakDown("a read has failed, and MPI may still write to its memory");
                }
              }
            });
  }

  /** Checks for deadline and interrupt; called while nothing is outstanding. */
  private void check() {
    if (Thread.currentThread().isInterrupted()) {
      throw new DDStoreException("interrupted while reading rows by MPI");
    }
    if (System.nanoTime() - deadlineNs >= 0) {
      throw new DeadlineExceededException(
          "remote rows of %s not received by MPI within %d ms"
              .formatted(
                  owners.stream().map(PeerRows::owners).collect(Collectors.joining(", ")),
                  timeout.toMillis()));
    }
  }

  /** Gives up memory that MPI may still write to: it is never freed or reused. */
  private void abandonMemory(List<PeerRows> peers) {
    peers.forEach(rows -> World.keep(rows.abandonStaging()));
    World.keep(offsets.abandon());
    World.keep(versions.abandon());
    unsettled = false;
  }

  /** A set of reads that are posted and waited for together. */
  @FunctionalInterface
  interface Round {
    void post() throws MPIException;
  }

  private boolean awaitStable() {
    LockSupport.parkNanos(this, CHANGING_NS);
    return true; // the next round checks the deadline
  }

  private KnownShard known(Nonce nonce) {
    return known.computeIfAbsent(nonce, n -> new KnownShard(transport.shard(n)));
  }

  @Override
  public long memoryBytes() {
    return versions.memoryBytes() + offsets.memoryBytes();
  }

  @Override
  public void close() {
    versions.close();
    offsets.close();
  }
}
