// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.client.RpcResponseCallback;
import org.ddstore.transport.PeerRows;
import org.ddstore.types.DDStoreException;

/**
 * A fetch of the rows of one process, piece by piece, with at most {@link #WINDOW} outstanding
 * requests. Ragged rows are preceded by their lengths, with as much data as fits.
 *
 * <p>Network threads process replies under the lock of this object; after {@link #cancel} has
 * returned, late replies are ignored.
 */
final class PeerFetch {
  /** Maximum number of outstanding requests per process. */
  static final int WINDOW = 8;

  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long CHANGING_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long NEVER = Long.MAX_VALUE;
  private static final long UNKNOWN_VERSION = -1;

  private final Connections connections;
  private final StoreToken token;
  private final PeerRows rows;
  private final GatherRequest.Cursor cursor;
  private final Runnable wake;

  private Connection connection;
  private int round;
  private boolean cancelled;
  private boolean done;
  private Throwable failure; // unchecked
  private Throwable trouble;
  private long retryNs = NEVER;
  private long heardNs = System.nanoTime();

  private ByteBuffer staging;
  private long[] versions;
  private boolean torn;
  private int lengthsCome;
  private int bytesCome;
  private int outstanding;
  private final Deque<GatherRequest> again = new ArrayDeque<>();

  /**
   * @param wake callback that wakes the waiting thread to call {@link #check}
   */
  PeerFetch(Connections connections, StoreToken token, PeerRows rows, Runnable wake) {
    this.connections = connections;
    this.token = token;
    this.rows = rows;
    this.cursor = new GatherRequest.Cursor(rows);
    this.wake = wake;
  }

  /** Sends the first requests once a connection is open. Does not block. */
  @SuppressWarnings("FutureReturnValueIgnored") // both outcomes are handled
  void begin() {
    int current;
    synchronized (this) {
      current = restart();
    }
    connections
        .to(rows.process(), token)
        .whenComplete(
            (found, e) -> {
              if (e == null) {
                connected(found, current);
              } else {
                broken(current, Connections.cause(e));
              }
            });
  }

  private int restart() {
    retryNs = NEVER;
    trouble = null;
    again.clear();
    outstanding = 0;
    torn = false;
    versions = new long[rows.segments()];
    Arrays.fill(versions, UNKNOWN_VERSION);
    lengthsCome = 0;
    bytesCome = 0;
    cursor.restart();
    staging = rows.recordBytes() > 0 ? rows.reserve() : null;
    return ++round;
  }

  private synchronized void connected(Connection found, int expectedRound) {
    if (!cancelled && expectedRound == round) {
      connection = found;
      try {
        send();
      } catch (RuntimeException | Error e) { // not visible to the caller otherwise
        fail(e);
      }
    }
  }

  /** Fills the window. Holds the lock, because a request can find a broken connection. */
  private void send() {
    while (connection != null && outstanding < WINDOW) {
      GatherRequest piece = again.isEmpty() ? nextPiece() : again.poll();
      if (piece == null) {
        return;
      }
      outstanding++;
      connection.request(piece.encode(token.id(), rows), new Reply(piece, round));
    }
  }

  private GatherRequest nextPiece() {
    return staging == null ? cursor.nextLengths() : cursor.nextData();
  }

  /** Processes a reply. The caller holds the lock. */
  private void take(GatherRequest piece, ByteBuffer reply) {
    heardNs = System.nanoTime();
    byte status = reply.get();
    switch (status) {
      case Status.OK -> takeRows(piece, reply);
      case Status.CHANGING -> {
        again.add(piece);
        retryNs = System.nanoTime() + CHANGING_NS;
        wake.run();
      }
      case Status.GONE -> fail(rows.closed());
      case Status.FAILED -> {
        rows.markSilent(); // another copy is used if it exists
        fail(
            new DDStoreException(
                "cannot read rows of %s at %s: %s"
                    .formatted(rows.owners(), rows.process(), Status.reason(reply))));
      }
      default ->
          fail(
              new DDStoreException(
                  "process " + rows.process() + " refused to serve rows: status " + status));
    }
  }

  private void takeRows(GatherRequest piece, ByteBuffer reply) {
    for (int r = piece.run(); r < rows.runs() && rows.firstSlot(r) < piece.toSlot(); r++) {
      if (GatherRequest.isFirstOfSegment(rows, piece.run(), r)) {
        checkVersion(r, reply.getLong());
      }
    }
    if (piece.lengths()) {
      for (int s = piece.fromSlot(); s < piece.toSlot(); s++) {
        rows.setLength(s, checkLength(reply.getInt()));
      }
      lengthsCome += piece.toSlot() - piece.fromSlot();
      if (lengthsCome == rows.rows()) {
        staging = rows.reserve();
        int bytes = Math.min(reply.remaining(), rows.start(rows.rows()));
        cursor.beginData(bytes);
        takeBytes(0, bytes, reply);
      }
    } else {
      takeBytes(piece.at(), piece.bytes(), reply);
    }
    if (staging != null && bytesCome == rows.start(rows.rows())) {
      finish();
    } else if (retryNs == NEVER) {
      send();
    }
  }

  private int checkLength(int lengthBytes) {
    if (lengthBytes < 0) {
      throw new DDStoreException(
          "process %s sent a row of %,d bytes: a length is at least 0"
              .formatted(rows.process(), lengthBytes));
    }
    return lengthBytes;
  }

  private void takeBytes(int at, int bytes, ByteBuffer reply) {
    if (reply.remaining() != bytes) {
      throw new DDStoreException(
          "process %s sent %,d bytes of rows, %,d requested"
              .formatted(rows.process(), reply.remaining(), bytes));
    }
    staging.put(at, reply, reply.position(), bytes);
    bytesCome += bytes;
  }

  /** Checks that all pieces have the same segment version, because a record can span two pieces. */
  private void checkVersion(int run, long version) {
    int segment = rows.segmentNumber(run);
    torn |= versions[segment] != UNKNOWN_VERSION && versions[segment] != version;
    versions[segment] = version;
  }

  private void finish() {
    if (torn) {
      restart();
      retryNs = System.nanoTime() + CHANGING_NS;
    } else {
      done = true;
    }
    wake.run();
  }

  private void fail(Throwable e) {
    failure = e;
    wake.run();
  }

  /** Handles a connection that broke or could not be opened; retries unless it is hopeless. */
  private synchronized void broken(int failedRound, Throwable e) {
    if (cancelled || done || failedRound != round) {
      return;
    }
    round++; // ignores late replies of this round
    connection = null;
    trouble = e;
    if (e instanceof Error) { // of this process, such as out of memory
      fail(e);
    } else if (e instanceof Connections.StoreGoneException) {
      fail(rows.closed());
    } else if (e instanceof SecurityException) {
      fail(new DDStoreException("cannot read from " + rows.process() + ": " + e.getMessage(), e));
    } else if (!connections.mayBeAlive(rows.process())) {
      fail(rows.lost());
    } else {
      retryNs = System.nanoTime() + RETRY_NS;
      wake.run();
    }
  }

  // The waiting thread's side.

  /** Throws permanent failures and retries temporary ones. */
  void check() {
    boolean reconnect;
    synchronized (this) {
      if (failure instanceof Error error) {
        throw error;
      }
      if (failure != null) {
        throw (RuntimeException) failure;
      }
      if (connection != null && outstanding > 0 && !connection.isActive()) {
        broken(round, new IOException("the connection has ended"));
        return;
      }
      if (done || retryNs == NEVER || retryNs - System.nanoTime() > 0) {
        return;
      }
      retryNs = NEVER;
      reconnect = connection == null;
      if (!reconnect) {
        send();
      }
    }
    if (reconnect) {
      begin();
    }
  }

  synchronized long untilRetryNs() {
    return retryNs == NEVER ? NEVER : retryNs - System.nanoTime();
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
            bytesCome,
            trouble == null ? "" : " (" + trouble + ")");
  }

  /** Cancels the fetch; later replies write nothing. */
  synchronized void cancel() {
    cancelled = true;
  }

  /** The callback of a request, called by a network thread. */
  private final class Reply implements RpcResponseCallback {
    private final GatherRequest piece;
    private final int requestRound;

    Reply(GatherRequest piece, int requestRound) {
      this.piece = piece;
      this.requestRound = requestRound;
    }

    @Override
    public void onSuccess(ByteBuffer reply) {
      synchronized (PeerFetch.this) {
        if (cancelled || requestRound != round) {
          return;
        }
        outstanding--;
        try {
          take(piece, reply);
        } catch (BufferUnderflowException e) {
          fail(new DDStoreException("process " + rows.process() + " sent a truncated reply", e));
        } catch (RuntimeException | Error e) { // not visible to the caller otherwise
          fail(e);
        }
      }
    }

    @Override
    public void onFailure(Throwable e) {
      broken(requestRound, e);
    }
  }
}
