// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import mpi.Intracomm;
import mpi.MPI;
import mpi.MPIException;
import mpi.Request;
import mpi.Status;
import org.ddstore.collective.MalformedMessageException;
import org.ddstore.collective.Messenger;
import org.ddstore.types.Loggers;
import org.ddstore.types.ProcessAddress;

/**
 * A point-to-point messenger between ranks that mpirun has started. One daemon thread sends queued
 * messages and receives; it polls often while there is traffic, rarely otherwise. MPI keeps the
 * order and loses nothing, and mpirun ends all processes when one has died.
 */
final class MpiMessenger implements Messenger, AutoCloseable {
  private static final System.Logger LOG = Loggers.of(MpiMessenger.class);
  private static final int TAG = 2;
  private static final int MAX_MESSAGE_BYTES = 300_000;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final long BUSY_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long SHORT_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long LONG_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final MpiCalls calls;
  private final Intracomm comm;
  private final ProcessAddress local;
  private final Thread thread = new Thread(this::run, "ddstore-mpi-messages");
  private final Queue<Outgoing> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger unsent = new AtomicInteger(); // queued or in progress
  private final ByteBuffer incoming = MPI.newByteBuffer(MAX_MESSAGE_BYTES);
  private final List<Outgoing> inProgress = new ArrayList<>(); // used only inside MPI calls
  private int incomingBytes; // used by the thread only; -1 if none has arrived
  private int source; // used by the thread only
  private volatile List<ProcessAddress> peers = List.of(); // by rank
  private volatile Receiver receiver;
  private volatile boolean failed;
  private volatile boolean closed;

  private static final class Outgoing {
    private final int rank;
    private final ByteBuffer bytes;
    private Request request;

    Outgoing(int rank, ByteBuffer message) {
      this.rank = rank;
      this.bytes = MPI.newByteBuffer(message.remaining()).put(message.duplicate());
    }
  }

  /**
   * @param comm communicator of all ranks, for these messages and for collectives of others
   */
  MpiMessenger(MpiCalls calls, Intracomm comm, ProcessAddress local) {
    this.calls = calls;
    this.comm = comm;
    this.local = local;
    thread.setDaemon(true);
  }

  /**
   * Starts to send and receive; the receiver must be set.
   *
   * @param all addresses of all processes, by rank
   */
  void start(Stream<ProcessAddress> all) {
    peers = all.toList();
    calls.setBeforeBlocking(this::sendQueued);
    thread.start();
  }

  @Override
  public ProcessAddress local() {
    return local;
  }

  @Override
  public void setReceiver(Receiver receiver) {
    this.receiver = receiver;
  }

  @Override
  public void send(ProcessAddress to, ByteBuffer message) {
    if (closed || failed) {
      return;
    }
    unsent.incrementAndGet();
    queue.add(new Outgoing(peers.indexOf(to), message));
    LockSupport.unpark(thread);
  }

  @Override
  public boolean isAlive(ProcessAddress process) {
    return !failed;
  }

  private void run() {
    long movedNs = System.nanoTime();
    while (!closed) {
      boolean moved;
      try {
        moved = turn();
      } catch (RuntimeException | Error e) { // so that waiting ranks learn of it
        fail(e);
        return;
      }
      long now = System.nanoTime();
      if (moved) {
        movedNs = now;
      } else {
        boolean busy = now - movedNs < BUSY_NS || unsent.get() > 0;
        LockSupport.parkNanos(this, busy ? SHORT_PAUSE_NS : LONG_PAUSE_NS);
      }
    }
  }

  /** Sends the queued messages and receives at most one that has arrived. */
  private boolean turn() {
    int before = unsent.get();
    incomingBytes = -1;
    calls.progress(
        () -> {
          sendQueued();
          forgetSent();
          receive();
          return null;
        },
        LIMIT);
    if (incomingBytes >= 0) {
      deliver();
    }
    return incomingBytes >= 0 || unsent.get() != before;
  }

  /**
   * Sends the queued messages. Also called before this process blocks in MPI for ranks that wait
   * for them, because the thread cannot enter MPI then. Always returns null.
   */
  private Void sendQueued() throws MPIException {
    for (Outgoing next = queue.poll(); next != null; next = queue.poll()) {
      next.request = comm.iSend(next.bytes, next.bytes.capacity(), MPI.BYTE, next.rank, TAG);
      inProgress.add(next);
    }
    return null;
  }

  private void forgetSent() throws MPIException {
    for (Iterator<Outgoing> each = inProgress.iterator(); each.hasNext(); ) {
      if (each.next().request.test()) {
        each.remove();
        unsent.decrementAndGet();
      }
    }
  }

  private void receive() throws MPIException {
    Status status = comm.iProbe(MPI.ANY_SOURCE, TAG);
    if (status != null) {
      source = status.getSource();
      int bytes = status.getCount(MPI.BYTE);
      comm.recv(incoming, bytes, MPI.BYTE, source, TAG);
      incomingBytes = bytes;
    }
  }

  private void deliver() {
    try {
      receiver.received(incoming.slice(0, incomingBytes));
    } catch (MalformedMessageException e) {
      LOG.log(System.Logger.Level.WARNING, "rejected a message of rank " + source, e);
      receiver.disconnected(peers.get(source));
    }
  }

  private void fail(Throwable cause) {
    LOG.log(System.Logger.Level.ERROR, "MPI messages stopped after an error", cause);
    failed = true;
    peers.forEach(receiver::disconnected);
  }

  /** Waits until all messages have been sent, unless that fails or exceeds the given time. */
  void drain(Duration patience) {
    long deadlineNs = System.nanoTime() + patience.toNanos();
    while (unsent.get() > 0 && !failed && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(SHORT_PAUSE_NS);
    }
  }

  /** Ends the thread, unless it is stuck in MPI. Idempotent. */
  @Override
  public void close() {
    closed = true;
    calls.setBeforeBlocking(() -> null);
    LockSupport.unpark(thread);
    try {
      thread.join(LIMIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // it ends by itself
    }
  }
}
