// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.ddstore.memory.Nonce;

/**
 * The owner's side of a data channel. The peer first sends {@link #MAGIC} and the key of a ticket,
 * and gets its proof. Then it sends gather requests, each after its size as an int32, and gets the
 * replies in the same order. Requests are not read while a reply is being sent. Used by the thread
 * of its {@link DataLoop}.
 */
final class ServedChannel {
  /** First four bytes of a channel: the name and version of the protocol. */
  static final int MAGIC = 0x44445333; // DDS3

  static final int GREETING_BYTES = Integer.BYTES + Handshake.STORE_BYTES;

  /** Maximum size of a request with its size field: all rows in segments of their own. */
  static final int MAX_FRAME_BYTES =
      GatherRequest.HEADER_BYTES
          + GatherRequest.MAX_ROWS * (GatherRequest.SEGMENT_BYTES + Long.BYTES);

  /** Number of replies to one channel before the others of its thread have their turn. */
  private static final int MAX_REPLIES = 4;

  private static final byte[] NOTHING = {};

  private final DataLoop loop;
  private final SocketChannel channel;
  private SelectionKey key;
  private final long openedNs = System.nanoTime();
  private Nonce store; // null before the ticket
  private byte[] unread = NOTHING;
  private GatherReply reply; // being sent, or null
  private boolean offeredToC;
  private long numberInC; // 0: Java reads all requests

  ServedChannel(DataLoop loop, SocketChannel channel) {
    this.loop = loop;
    this.channel = channel;
  }

  /** Lets the selector of the loop call {@link #ready}. */
  void register(Selector selector) throws IOException {
    key = channel.register(selector, SelectionKey.OP_READ, this);
    loop.selectorChanged();
  }

  /** Returns the store that the peer may read; null before it has shown its ticket. */
  Nonce store() {
    return store;
  }

  long openedNs() {
    return openedNs;
  }

  /** Reads and answers requests, or continues a reply. Does not block. */
  void ready() {
    serve(true);
  }

  private void resume() {
    if (channel.isOpen() && reply == null) {
      serve(false);
    }
  }

  private void serve(boolean reads) {
    guard(
        () -> {
          if (reply != null && !send()) {
            return;
          }
          ByteBuffer input = loop.input().clear().put(unread);
          unread = NOTHING;
          if (reads && key.isReadable() && channel.read(input) < 0) {
            close();
            return;
          }
          answerAll(input.flip());
          handOver();
        });
  }

  /** Lets C receive the requests from now on, unless a part of one has been read. */
  private void handOver() {
    if (loop.inC() == null || offeredToC || store == null || reply != null || unread.length > 0) {
      return;
    }
    offeredToC = true;
    GatherServer server = loop.service().stores().apply(store);
    if (server != null && channel.isOpen()) {
      numberInC = loop.inC().add(this, server, channel);
      setInterest(idleInterest());
    }
  }

  /**
   * Answers a request that C has received.
   *
   * @param sent bytes of the reply that C has sent; Java sends the others
   * @param version version of the segment before its rows were read, if bytes were sent
   */
  void answer(ByteBuffer request, long sent, long version) {
    guard(() -> answerFrom(request, sent, version));
  }

  private void guard(DataLoop.Step step) {
    try {
      step.run();
    } catch (IllegalArgumentException e) {
      refuse("an illegal request", e.getMessage());
    } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
      refuse("a truncated request", "");
    } catch (IOException e) { // the peer has ended
      close();
    } catch (RuntimeException | Error e) {
      loop.service().refusals().reportFailure(channel.socket().getRemoteSocketAddress(), e);
      close();
    }
  }

  /** Answers the requests of the input until one of them has to wait. */
  private void answerAll(ByteBuffer input) throws IOException {
    int consumed = 0;
    while (reply == null && channel.isOpen() && consumed < MAX_REPLIES && takeFrame(input)) {
      consumed++;
    }
    if (input.hasRemaining()) {
      unread = new byte[input.remaining()];
      input.get(unread);
      if (consumed == MAX_REPLIES && reply == null) {
        loop.execute(this::resume);
      }
    }
  }

  private boolean takeFrame(ByteBuffer input) throws IOException {
    if (store == null) {
      return input.remaining() >= GREETING_BYTES && greet(input);
    }
    if (input.remaining() < Integer.BYTES) {
      return false;
    }
    int bytes = input.getInt(input.position());
    if (bytes < 1 || bytes > MAX_FRAME_BYTES - Integer.BYTES) {
      throw illegalSize(bytes);
    }
    if (input.remaining() < Integer.BYTES + bytes) {
      return false;
    }
    int start = input.position() + Integer.BYTES;
    ByteBuffer request = input.slice(start, bytes);
    input.position(start + bytes);
    answerFrom(request, 0, 0);
    return true;
  }

  private static IllegalArgumentException illegalSize(int bytes) {
    return new IllegalArgumentException("a request of %,d bytes".formatted(bytes));
  }

  void refuseSize(int bytes) {
    refuse("an illegal request", illegalSize(bytes).getMessage());
  }

  private boolean greet(ByteBuffer input) throws IOException {
    DataTickets.Issued ticket = null;
    if (input.getInt() == MAGIC) {
      ticket = loop.service().tickets().redeem(Handshake.getStore(input));
    }
    if (ticket == null) {
      refuse("no ticket for a data channel", "");
      return false;
    }
    store = ticket.store();
    loop.admitted(this);
    ByteBuffer proof = ByteBuffer.allocate(Handshake.STORE_BYTES);
    Handshake.putStore(proof, ticket.proof());
    channel.write(proof.flip()); // fits into the empty buffer of a new connection
    return true;
  }

  private void answerFrom(ByteBuffer request, long sent, long version) throws IOException {
    GatherServer server = loop.service().stores().apply(store);
    reply = loop.takeReply();
    try {
      byte status =
          server == null
              ? Status.GONE
              : server.begin(reply, request, GatherRequest.CHANNEL_PIECE_BYTES);
      if (sent > 0 && status == Status.OK) {
        reply.skip(sent, version);
      } else if (sent > 0) { // the peer cannot tell a status from rows
        close();
        return;
      } else if (status != Status.OK) {
        reply.beginStatus(ByteBuffer.wrap(new byte[] {status}));
      }
    } catch (IllegalArgumentException | BufferUnderflowException | IndexOutOfBoundsException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      loop.service().refusals().reportFailure(channel.socket().getRemoteSocketAddress(), e);
      if (sent > 0) {
        close();
        return;
      }
      reply.beginStatus(Status.failedWithSize("request failed on the peer: " + e));
    }
    send();
  }

  /** Sends as much of the reply as the channel takes; returns whether it is complete. */
  private boolean send() throws IOException {
    boolean pending = key.interestOps() == SelectionKey.OP_WRITE;
    if (reply.write(channel, loop.packed())) {
      endReply();
      setInterest(idleInterest());
      if (pending && numberInC != 0) {
        loop.inC().resume(numberInC);
      }
      return true;
    }
    if (!pending && numberInC != 0) {
      loop.inC().pause(numberInC);
    }
    setInterest(SelectionKey.OP_WRITE);
    return false;
  }

  /** Returns what the selector waits for while no reply is pending. */
  private int idleInterest() {
    return numberInC == 0 ? SelectionKey.OP_READ : 0;
  }

  private void setInterest(int operations) {
    if (key.interestOps() != operations) {
      key.interestOps(operations);
      loop.selectorChanged();
    }
  }

  private void endReply() {
    GatherReply ended = reply;
    reply = null;
    try {
      ended.end();
    } finally {
      loop.giveBack(ended);
    }
  }

  void refuse(String cause, String detail) {
    loop.service().refusals().report(channel.socket().getRemoteSocketAddress(), cause, detail);
    close();
  }

  /** Closes the channel and releases the segments of a reply. Idempotent. */
  void close() {
    if (reply != null) {
      endReply();
    }
    loop.forget(this);
    if (numberInC != 0) {
      loop.inC().remove(numberInC);
      numberInC = 0;
    }
    key.cancel();
    loop.selectorChanged();
    try {
      channel.close();
    } catch (IOException e) {
      loop.service().refusals().reportFailure(null, e);
    }
  }
}
