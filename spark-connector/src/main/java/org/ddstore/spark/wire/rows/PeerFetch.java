// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.client.RpcResponseCallback;
import org.ddstore.nativeio.ReplyReceiver;
import org.ddstore.spark.wire.connection.Connection;
import org.ddstore.spark.wire.connection.Connections;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.transport.PeerRows;
import org.ddstore.types.DDStoreException;

/**
 * A fetch of the rows of one process, piece by piece, with at most {@link #WINDOW} outstanding
 * requests. Ragged rows are preceded by their lengths, with as much data as fits.
 *
 * <p>The waiting thread sends requests on a {@link DataChannel} and receives the replies itself, or
 * network threads process the replies of a {@link Connection}; both under the lock of this object.
 * After {@link #end} has returned, late replies are ignored.
 */
final class PeerFetch {
  /** Maximum number of outstanding requests per process. */
  static final int WINDOW = 8;

  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long CHANGING_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long NEVER = Long.MAX_VALUE;

  private final GatherReader reader;
  private final PeerRows rows;
  private final ReceivedRows received;

  private Connection connection;
  private DataChannel channel; // used instead of the connection if not null
  private int round;
  private boolean cancelled;
  private boolean done;
  private Throwable failure; // unchecked
  private Throwable trouble;
  private long retryNs = NEVER;
  private long heardNs = System.nanoTime();
  private int failures; // of paths

  private int outstanding;
  private final Deque<GatherRequest> again = new ArrayDeque<>();

  /**
   * @param reader reader whose thread calls {@link #check}
   */
  PeerFetch(GatherReader reader, PeerRows rows) {
    this.reader = reader;
    this.rows = rows;
    this.received = new ReceivedRows(rows);
  }

  /** Sends the first requests, once a path is open. Does not block. */
  @SuppressWarnings("FutureReturnValueIgnored") // both outcomes are handled
  void begin() {
    int current;
    synchronized (this) {
      current = restart();
      channel = reader.channelTo(rows.process());
      if (channel != null) {
        useChannel();
        return;
      }
    }
    reader
        .open(rows.process())
        .whenComplete(
            (path, e) -> {
              if (e == null) {
                opened(path, current);
              } else {
                pathFailed(current, Connections.cause(e));
              }
            });
  }

  private int restart() {
    retryNs = NEVER;
    trouble = null;
    again.clear();
    outstanding = 0;
    received.restart();
    return ++round;
  }

  private synchronized void opened(DataPath path, int expectedRound) {
    if (cancelled || expectedRound != round) {
      path.closeChannel();
      return;
    }
    connection = path.connection();
    channel = path.channel();
    if (channel != null) {
      retryNs = System.nanoTime(); // the waiting thread uses it
      reader.wake();
      return;
    }
    try {
      send();
    } catch (RuntimeException | Error e) { // not visible to the caller otherwise
      fail(e);
    }
  }

  /** Begins to use the channel. Called by the waiting thread. */
  private void useChannel() {
    try {
      reader.attach(channel, this);
      channel.replies().begin(this);
    } catch (IOException e) {
      pathFailed(round, e);
      return;
    }
    send();
  }

  /** Fills the window. Holds the lock, because a request can find a broken connection. */
  private void send() {
    sendRequests();
    if (channel != null) {
      channel.replies().proceed();
    }
  }

  private void sendRequests() {
    int pieceBytes =
        channel == null ? GatherRequest.CONNECTION_PIECE_BYTES : GatherRequest.CHANNEL_PIECE_BYTES;
    while ((connection != null || channel != null) && outstanding < WINDOW) {
      GatherRequest piece = again.isEmpty() ? received.nextPiece(pieceBytes) : again.poll();
      if (piece == null) {
        return;
      }
      outstanding++;
      if (channel == null) {
        connection.request(piece.encode(reader.store(), rows), new ConnectionReply(piece, round));
        continue;
      }
      try {
        channel.send(piece, rows);
        channel.replies().expect(piece);
      } catch (IOException e) {
        pathFailed(round, e);
      }
    }
  }

  /** Processes a reply of a connection. The caller holds the lock. */
  private void processReply(GatherRequest piece, ByteBuffer reply) {
    heard();
    byte status = reply.get();
    if (status != Status.OK) {
      refused(status, reply);
      return;
    }
    received.takeAll(piece, reply);
    int excess = reply.remaining() - received.tailBytes(piece);
    if (excess < 0) {
      throw new BufferUnderflowException();
    }
    if (excess > 0) {
      throw new DDStoreException(
          "process %s sent %,d excess bytes".formatted(rows.process(), excess));
    }
    takeTail(piece, reply);
  }

  void heard() {
    heardNs = System.nanoTime();
  }

  /**
   * Processes a status other than {@link Status#OK}.
   *
   * @param reason text of {@link Status#FAILED}
   */
  void refused(byte status, ByteBuffer reason) {
    switch (status) {
      case Status.GONE -> fail(rows.closed());
      case Status.FAILED -> {
        rows.markSilent(); // another copy is used if it exists
        fail(
            new DDStoreException(
                "cannot read rows of %s at %s: %s"
                    .formatted(rows.owners(), rows.process(), Status.reason(reason))));
      }
      default ->
          fail(
              new DDStoreException(
                  "process " + rows.process() + " refused to serve rows: status " + status));
    }
  }

  /** Processes the end of a reply, whose data are in the staging memory. */
  void takeTail(GatherRequest piece, ByteBuffer tail) {
    outstanding--;
    if (!received.takeTail(piece, tail)) {
      again.add(piece);
      retryNs = System.nanoTime() + CHANGING_NS;
      reader.wake();
    } else if (received.isComplete()) {
      finish();
    } else if (retryNs == NEVER) {
      send();
    }
  }

  private void finish() {
    if (received.isTorn()) {
      restart();
      retryNs = System.nanoTime() + CHANGING_NS;
      reader.wake();
    } else {
      done = true;
      reader.finished();
    }
  }

  private void fail(Throwable e) {
    failure = e;
    reader.wake();
  }

  /**
   * Handles a path that broke or could not be opened; retries unless it is hopeless, the first time
   * at once. After a second failure {@link #check} gives up a process that others can replace.
   */
  private synchronized void pathFailed(int failedRound, Throwable e) {
    if (cancelled || done || failedRound != round) {
      return;
    }
    round++; // ignores late replies of this round
    connection = null;
    dropChannel();
    trouble = e;
    if (e instanceof Error) { // of this process, such as out of memory
      fail(e);
    } else if (e instanceof Connections.StoreGoneException) {
      fail(rows.closed());
    } else if (e instanceof SecurityException) {
      rows.markSilent(); // another copy is used if it exists
      fail(new DDStoreException("cannot read from " + rows.process() + ": " + e.getMessage(), e));
    } else if (!reader.mayBeAlive(rows.process())) {
      fail(rows.lost());
    } else {
      failures++;
      retryNs = System.nanoTime() + (failures == 1 ? 0 : RETRY_NS);
      reader.wake();
    }
  }

  private void dropChannel() {
    if (channel != null) {
      reader.drop(channel);
      channel = null;
    }
  }

  // The waiting thread's side.

  /** Throws permanent failures and retries temporary ones. */
  void check() {
    boolean reopen;
    synchronized (this) {
      if (failure instanceof Error error) {
        throw error;
      }
      if (failure != null) {
        throw (RuntimeException) failure;
      }
      if (channel == null && connection != null && outstanding > 0 && !connection.isActive()) {
        pathFailed(round, new IOException("the connection has ended"));
        return;
      }
      if (!done && failures > 1 && reader.isReplaceable(rows.process())) {
        rows.markSilent();
        throw new DDStoreException("remote rows not received: " + state(), trouble);
      }
      if (done || retryNs == NEVER || retryNs - System.nanoTime() > 0) {
        return;
      }
      retryNs = NEVER;
      reopen = connection == null && channel == null;
      if (channel != null && !channel.replies().isOf(this)) {
        useChannel();
      } else if (!reopen) {
        send();
      }
    }
    if (reopen) {
      begin();
    }
  }

  /** Receives replies of the channel. Called by the waiting thread. */
  void ready() {
    receive(
        () -> {
          channel.flushRest();
          if (!channel.isInC()) {
            channel.replies().receive();
          }
        });
  }

  /** Processes what C has received, see {@link DataChannel#arrived}. */
  void arrived(ReplyReceiver.Kind kind, int bytes, IOException error) {
    receive(() -> channel.replies().arrived(kind, bytes, error));
  }

  private synchronized void receive(DataLoop.Step step) {
    int current = round;
    try {
      step.run();
    } catch (IOException e) {
      if (done || cancelled) {
        dropChannel(); // idle: no reply is lost
      } else {
        pathFailed(current, e);
      }
    }
  }

  synchronized long untilRetryNs() {
    return retryNs == NEVER ? NEVER : retryNs - System.nanoTime();
  }

  ReceivedRows received() {
    return received;
  }

  PeerRows rows() {
    return rows;
  }

  /** Returns the nanoseconds since the start or the last reply; 0 if the fetch is complete. */
  synchronized long silentNs() {
    return done ? 0 : System.nanoTime() - heardNs;
  }

  synchronized boolean isDone() {
    return done;
  }

  synchronized String state() {
    return "%,d rows of %s at %s, %,d bytes received%s"
        .formatted(
            rows.rows(),
            rows.owners(),
            rows.process(),
            received.bytes(),
            trouble == null ? "" : " (" + trouble + ")");
  }

  /** Ends the fetch; later replies write nothing, because a channel that owes some is closed. */
  synchronized void end() {
    cancelled = true;
    if (!done) {
      dropChannel();
    }
  }

  /** The callback of a request on a connection, called by a network thread. */
  private final class ConnectionReply implements RpcResponseCallback {
    private final GatherRequest piece;
    private final int requestRound;

    ConnectionReply(GatherRequest piece, int requestRound) {
      this.piece = piece;
      this.requestRound = requestRound;
    }

    @Override
    public void onSuccess(ByteBuffer reply) {
      synchronized (PeerFetch.this) {
        if (cancelled || requestRound != round) {
          return;
        }
        try {
          processReply(piece, reply);
        } catch (BufferUnderflowException e) {
          fail(new DDStoreException("process " + rows.process() + " sent a truncated reply", e));
        } catch (RuntimeException | Error e) { // not visible to the caller otherwise
          fail(e);
        }
      }
    }

    @Override
    public void onFailure(Throwable e) {
      pathFailed(requestRound, e);
    }
  }
}
