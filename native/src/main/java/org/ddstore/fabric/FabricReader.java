// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiPredicate;
import org.ddstore.fabric.ReadingEndpoint.ReadFailure;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.transport.PeerGoneException;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;

/**
 * A reader of rows in other processes' memory, without the help of their programs.
 *
 * <p>No row is torn: the version word of a segment is read after its rows have arrived. It must be
 * even, and equal to its value when a reader of this process last read it, which was before these
 * rows. Otherwise the rows are read again. The version word is requested only when all rows have
 * arrived, because networks need not keep reads in order.
 *
 * <p>After any failure the owner is queried again over the authenticated connection: that shows
 * whether it has ended or left; otherwise the read is retried until the deadline. After a failure,
 * a missed deadline or an interrupt the endpoint is closed, because there is no other way to cancel
 * a read that has been sent: afterwards nothing is written to the staging memory any more.
 */
final class FabricReader implements RemoteReader {
  private static final int SLICE_MS = 100;
  private static final long CHANGING_NS = Duration.ofMillis(1).toNanos();
  private static final long RETRY_NS = Duration.ofMillis(20).toNanos();
  private static final long NS_PER_MS = Duration.ofMillis(1).toNanos();

  private final FabricTransport transport;
  private final Duration timeout;
  private final ReadList reads = new ReadList();
  private final GrowingBuffer words = new GrowingBuffer();
  private final LandingMemory landings = new LandingMemory();
  private final SilenceWatch silence;
  private ReadingEndpoint end;
  private long deadlineNs;
  private boolean closed;

  FabricReader(FabricTransport transport, Duration timeout) {
    this.transport = transport;
    this.timeout = timeout;
    this.silence = new SilenceWatch(transport.memories()::probe, System::nanoTime);
    begin();
  }

  @Override
  public void begin() {
    deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  @Override
  public void begin(Duration limit, BiPredicate<ProcessAddress, Set<ProcessAddress>> replaceable) {
    begin();
    silence.limit(limit, replaceable);
  }

  @Override
  public void fetch(List<PeerRows> peers) {
    // Reads that complete at once never wait, and a task with many of them must be interruptible.
    checkInterrupt();
    String trouble = null;
    while (true) {
      try {
        if (trouble != null) {
          pause(RETRY_NS, trouble);
        }
        tryFetch(peers);
        return;
      } catch (ReadFailure e) {
        abandon();
        forget(peers);
        trouble = e.getMessage();
      } catch (DeadlineExceededException e) {
        abandon();
        if (peers.stream().noneMatch(PeerRows::isSilent)) {
          peers.forEach(PeerRows::markSilent); // some of them; the endpoint does not know which
        }
        throw missing(peers, trouble == null ? e.getMessage() : trouble);
      } catch (BatchTooLargeException e) {
        throw e; // the lengths are known, and no row is in flight
      } catch (RuntimeException | Error e) {
        abandon();
        throw e;
      }
    }
  }

  private void tryFetch(List<PeerRows> peers) {
    if (end == null) {
      end = transport.takeEnd();
    }
    silence.begin(peers);
    List<PeerReads> pending = new ArrayList<>();
    peers.forEach(rows -> pending.add(askFor(rows)));
    fetchOffsets(pending);
    pending.forEach(peer -> peer.reserve(landings, end));
    while (true) {
      fetchRows(pending);
      checkVersions(pending);
      if (pending.isEmpty()) {
        return;
      }
      pause(CHANGING_NS, "the rows are being changed");
    }
  }

  private PeerReads askFor(PeerRows rows) {
    while (true) {
      try {
        return new PeerReads(rows, transport.memories(), end, silence, deadlineNs);
      } catch (DeadlineExceededException e) {
        if (silence.marksUnanswered() || System.nanoTime() - deadlineNs >= 0) {
          throw e;
        }
        checkInterrupt(); // it answers, but late
      } catch (PeerGoneException e) {
        throw e.hasEnded() ? rows.lost() : rows.closed();
      }
    }
  }

  private void fetchOffsets(List<PeerReads> pending) {
    long bytes = pending.stream().mapToLong(PeerReads::offsetBytes).sum();
    if (bytes > GrowingBuffer.MAX_BYTES) {
      throw new IllegalArgumentException(
          "offsets of ragged rows have %,d bytes: read fewer rows per batch".formatted(bytes));
    }
    if (bytes > 0) {
      reads.clear();
      ByteBuffer memory = words.ensure(wordBytes(bytes));
      int region = landings.regionOf(this, memory, end);
      long to = FabricNative.addressOf(memory);
      for (PeerReads peer : pending) {
        to = peer.addOffsets(reads, to, region);
      }
      run(pending);
    }
    int at = 0;
    for (PeerReads peer : pending) {
      at = peer.takeOffsets(words.buffer(), at);
    }
  }

  private long wordBytes(long bytes) {
    if (words.buffer().capacity() < bytes) {
      landings.forget(this); // it is about to be freed
    }
    return bytes;
  }

  private void fetchRows(List<PeerReads> pending) {
    reads.clear();
    pending.forEach(peer -> peer.addRows(reads));
    run(pending);
  }

  /** Removes from the list the peers whose rows are stable. */
  private void checkVersions(List<PeerReads> pending) {
    int bytes = pending.stream().mapToInt(PeerReads::versionBytes).sum();
    ByteBuffer memory = words.ensure(wordBytes(bytes));
    int region = landings.regionOf(this, memory, end);
    long to = FabricNative.addressOf(memory);
    reads.clear();
    for (PeerReads peer : pending) {
      peer.addVersions(reads, to, region);
      to += peer.versionBytes();
    }
    run(pending);
    int at = 0;
    for (PeerReads peer : List.copyOf(pending)) {
      if (peer.isStable(memory, at)) {
        pending.remove(peer);
      }
      at += peer.versionBytes();
    }
  }

  private void run(List<PeerReads> pending) {
    end.begin(reads);
    silence.begin();
    while (!end.run(sliceMs())) {
      checkInterrupt();
      if (System.nanoTime() - deadlineNs >= 0) {
        throw new DeadlineExceededException("%,d bytes have arrived".formatted(end.bytesArrived()));
      }
      for (PeerReads peer : pending) {
        if (!transport.calls().isAlive(peer.rows().process())) {
          throw new ReadFailure(peer.rows().process(), "the process has ended");
        }
      }
      if (silence.marks(end.bytesArrived())) {
        throw new DeadlineExceededException("no answer, other processes have the rows");
      }
    }
  }

  private int sliceMs() {
    long left = (deadlineNs - System.nanoTime() + NS_PER_MS - 1) / NS_PER_MS;
    return (int) Math.max(0, Math.min(SLICE_MS, left));
  }

  /**
   * Discards the memory tables of all owners, which are then queried again: if several have moved
   * their memory, the failure that a provider reports first can be that of another owner.
   */
  private void forget(List<PeerRows> peers) {
    peers.forEach(rows -> transport.memories().forget(rows.process()));
  }

  private void pause(long ns, String why) {
    long left = deadlineNs - System.nanoTime();
    if (left <= 0) {
      throw new DeadlineExceededException(why);
    }
    LockSupport.parkNanos(this, Math.min(ns, left));
    checkInterrupt();
  }

  private static void checkInterrupt() {
    if (Thread.currentThread().isInterrupted()) {
      throw new DDStoreException("interrupted while waiting for remote rows");
    }
  }

  private DeadlineExceededException missing(List<PeerRows> peers, String why) {
    StringBuilder text = new StringBuilder();
    for (PeerRows rows : peers) {
      text.append(text.length() == 0 ? "" : "; ")
          .append("%,d rows of %s at %s".formatted(rows.rows(), rows.owners(), rows.process()));
    }
    long leftNs = Math.max(0, deadlineNs - System.nanoTime());
    return new DeadlineExceededException(
        "remote rows not received within %d ms: %s (%s)"
            .formatted(timeout.minusNanos(leftNs).toMillis(), text, why));
  }

  /** Closes the endpoint; nothing arrives any more when this method returns. */
  private void abandon() {
    landings.forgetAll();
    if (end != null) {
      ReadingEndpoint closing = end;
      end = null;
      closing.close();
    }
  }

  @Override
  public long memoryBytes() {
    return words.buffer().capacity() + reads.memoryBytes();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    landings.removeAll();
    if (end != null) {
      transport.giveBack(end);
      end = null;
    }
    words.close();
    reads.close();
  }
}
