// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.ddstore.nativeio.ReplyReceiver;
import org.ddstore.spark.wire.connection.Connections;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.transport.PeerRows;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reader's side of a data channel, see {@link ServedChannel}. One thread sends the requests and
 * receives the replies, with its own selector.
 */
final class DataChannel implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DataChannel.class);
  private static final int FIRST_BYTES = 16 << 10;

  private final ProcessAddress peer;
  private final SocketChannel channel;
  private ByteBuffer out = ByteBuffer.allocateDirect(FIRST_BYTES); // requests to send
  private final DataReplies replies = new DataReplies(this);
  private SelectionKey key;
  private PeerFetch user;
  private RepliesInC waits; // of the reader; null if it has none
  private long handle; // in C; 0 if Java receives the replies

  private DataChannel(ProcessAddress peer, SocketChannel channel) {
    this.peer = peer;
    this.channel = channel;
  }

  /**
   * Opens a channel with a ticket. Blocks.
   *
   * @throws IOException if the port cannot be reached, or another process listens there
   */
  static DataChannel open(
      ProcessAddress peer, int port, DataTickets.Ticket ticket, Duration timeout)
      throws IOException {
    return open(
        peer,
        port,
        timeout,
        (channel, deadlineNs) -> {
          ByteBuffer greeting = ByteBuffer.allocate(Integer.BYTES + Handshake.STORE_BYTES);
          Handshake.putStore(greeting.putInt(Admission.TICKET), ticket.key());
          channel.write(greeting.flip());
          ByteBuffer proof = read(channel, Handshake.STORE_BYTES, deadlineNs);
          if (!Handshake.getStore(proof).equals(ticket.proof())) {
            throw new IOException("port %d of %s does not accept the ticket".formatted(port, peer));
          }
        });
  }

  /**
   * Opens a channel with a read key. Blocks.
   *
   * @param peer address of the data port, with the id of the process
   * @throws SecurityException if the process refuses the key, with the reason
   * @throws Connections.StoreGoneException if the process had the store, and has left it
   * @throws IOException if the port cannot be reached, or another process listens there
   */
  static DataChannel open(ProcessAddress peer, ReadClaims claims, ReadKey key, Duration timeout)
      throws IOException {
    return open(
        peer,
        peer.port(),
        timeout,
        (channel, deadlineNs) -> {
          Handshake handshake = Handshake.begin(claims.store(), peer.id(), claims.toBytes());
          ByteBuffer hello = handshake.hello();
          ByteBuffer greeting = ByteBuffer.allocate(2 * Integer.BYTES + hello.remaining());
          greeting.putInt(Admission.READ_KEY).putInt(hello.remaining()).put(hello);
          channel.write(greeting.flip());
          if (read(channel, 1, deadlineNs).get() != Status.OK) {
            throw new OutsidePaths.OtherProcessException(peer);
          }
          channel.write(handshake.prove(read(channel, Handshake.ANSWER_BYTES, deadlineNs), key));
          byte status = read(channel, 1, deadlineNs).get();
          if (status == Status.GONE) {
            throw new Connections.StoreGoneException(peer);
          }
          if (status != Status.OK) {
            throw new SecurityException(refusal(claims, status));
          }
        });
  }

  private static String refusal(ReadClaims claims, byte status) {
    String cause =
        switch (status) {
          case Status.EXPIRED -> "ended at " + Instant.ofEpochMilli(claims.expiresMs());
          case Status.REVOKED -> "was revoked";
          default -> "is refused with status " + status;
        };
    return "grant \"%s\" %s".formatted(claims.label(), cause);
  }

  /** The beginning of a channel, while it still blocks. */
  @FunctionalInterface
  private interface Greeting {
    void exchange(SocketChannel channel, long deadlineNs) throws IOException;
  }

  private static DataChannel open(
      ProcessAddress peer, int port, Duration timeout, Greeting greeting) throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true); // finds hosts that vanished
      int timeoutMs = (int) Math.min(Integer.MAX_VALUE, timeout.toMillis());
      channel.socket().connect(new InetSocketAddress(peer.host(), port), timeoutMs);
      greeting.exchange(channel, System.nanoTime() + timeout.toNanos());
      channel.configureBlocking(false);
      return new DataChannel(peer, channel);
    } catch (IOException | RuntimeException | Error e) {
      closeAfter(channel, e);
      throw e;
    }
  }

  /** Reads bytes; the deadline is that of the whole greeting, however slowly they arrive. */
  private static ByteBuffer read(SocketChannel channel, int bytes, long deadlineNs)
      throws IOException {
    ByteBuffer read = ByteBuffer.allocate(bytes);
    while (read.hasRemaining()) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        throw new SocketTimeoutException("no greeting of the peer in time");
      }
      channel.socket().setSoTimeout((int) Math.min(Integer.MAX_VALUE, leftMs));
      int got =
          channel.socket().getInputStream().read(read.array(), read.position(), read.remaining());
      if (got < 0) {
        throw new EOFException("the peer has closed a new data channel");
      }
      read.position(read.position() + got);
    }
    return read.flip();
  }

  private static void closeAfter(SocketChannel channel, Throwable e) {
    try {
      channel.close();
    } catch (IOException suppressed) {
      e.addSuppressed(suppressed);
    }
  }

  DataReplies replies() {
    return replies;
  }

  ProcessAddress peer() {
    return peer;
  }

  /**
   * Lets a selector drive this channel for its user.
   *
   * @param inC waits of the reader in C; null if it has none
   */
  void attach(Selector selector, RepliesInC inC, PeerFetch fetch) throws IOException {
    user = fetch;
    if (key != null && key.selector() == selector) {
      key.attach(fetch);
      return;
    }
    waits = inC;
    handle = inC == null ? 0 : inC.add(this, channel);
    key = channel.register(selector, idleInterest(), fetch);
    selectorChanged();
  }

  /** Returns what the selector waits for while no request is pending. */
  private int idleInterest() {
    return handle == 0 ? SelectionKey.OP_READ : 0;
  }

  private void selectorChanged() {
    if (waits != null) {
      waits.selectorChanged();
    }
  }

  boolean isInC() {
    return handle != 0;
  }

  /**
   * Sends a request, or the part of it that the channel takes now; {@link #flushRest} sends the
   * rest.
   */
  void send(GatherRequest request, PeerRows rows) throws IOException {
    int maxFrameBytes = Integer.BYTES + request.maxBodyBytes(rows);
    if (out.remaining() < maxFrameBytes) {
      ByteBuffer larger = ByteBuffer.allocateDirect(2 * (out.position() + maxFrameBytes));
      out = larger.put(out.flip());
    }
    int sizeAt = out.position();
    out.putInt(0);
    request.putBody(out, rows);
    out.putInt(sizeAt, out.position() - sizeAt - Integer.BYTES);
    flush();
  }

  private void flush() throws IOException {
    out.flip();
    if (handle == 0) {
      channel.write(out);
    } else {
      waits.receiver().send(handle, out);
    }
    out.compact();
    setInterest();
  }

  private void setInterest() {
    int operations = idleInterest() | (out.position() > 0 ? SelectionKey.OP_WRITE : 0);
    if (key.interestOps() != operations) {
      key.interestOps(operations);
      selectorChanged();
    }
  }

  /** Sends the rest of the requests. Does not block. */
  void flushRest() throws IOException {
    if (out.position() > 0) {
      flush();
    }
  }

  /**
   * Receives bytes into buffers, in their order. Does not block.
   *
   * @return number of bytes, 0 if none has arrived
   * @throws EOFException if the peer has closed the channel
   */
  long receive(ByteBuffer[] into) throws IOException {
    long bytes = channel.read(into);
    if (bytes < 0) {
      throw new EOFException("the peer has closed the data channel");
    }
    return bytes;
  }

  /**
   * Lets C receive a reply into buffers, in their order.
   *
   * @param parts head, data and tail, see {@link ReplyReceiver#expect}
   * @param more whether a wait ends when this reply is whole, although others are not
   */
  void expect(ByteBuffer[] parts, boolean more) {
    waits.receiver().expect(handle, parts[0], parts[1], parts[2], more);
  }

  /**
   * Handles what C has received. Called by the waiting thread.
   *
   * @param bytes number of bytes of the present reply that have been received
   * @param error why nothing more can be received, or null
   */
  void arrived(ReplyReceiver.Kind kind, int bytes, IOException error) {
    user.arrived(kind, bytes, error);
  }

  private void removeFromC() {
    if (handle != 0) {
      waits.remove(this, handle);
      handle = 0;
    }
  }

  /** Checks a channel that is ready although no reply is expected. */
  void receiveEnd() throws IOException {
    if (receive(new ByteBuffer[] {ByteBuffer.allocate(1)}) > 0) {
      throw new IOException("the peer has sent bytes without a request");
    }
  }

  long memoryBytes() {
    return out.capacity() + replies.memoryBytes();
  }

  @Override
  public void close() {
    removeFromC();
    selectorChanged();
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("data channel to {}", peer, e);
    }
  }

  @Override
  public String toString() {
    return "DataChannel[" + peer + "]";
  }
}
