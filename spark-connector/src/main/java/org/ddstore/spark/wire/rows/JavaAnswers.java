// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.ddstore.spark.wire.connection.Status;

/** The answers to the requests of a data channel, where C does not give them. */
final class JavaAnswers {
  /** Number of replies to one channel before the others of its thread have their turn. */
  private static final int MAX_REPLIES = 4;

  private static final byte[] NOTHING = {};

  private final ServedChannel served;
  private final SocketChannel channel;
  private final DataLoop loop;
  private byte[] unread = NOTHING;
  private GatherReply reply; // being sent, or null

  JavaAnswers(ServedChannel served) {
    this.served = served;
    this.channel = served.channel();
    this.loop = served.loop();
  }

  /** Reads and answers requests, or continues a reply. Does not block. */
  void ready() throws IOException {
    if (reply == null || send()) {
      serve(true);
    }
  }

  private void resume() {
    if (channel.isOpen() && reply == null) {
      served.guard(() -> serve(false));
    }
  }

  private void serve(boolean reads) throws IOException {
    ByteBuffer input = loop.input().clear().put(unread);
    unread = NOTHING;
    if (reads && served.key().isReadable() && channel.read(input) < 0) {
      served.close();
      return;
    }
    answerAll(input.flip());
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
    if (input.remaining() < Integer.BYTES) {
      return false;
    }
    int bytes = input.getInt(input.position());
    if (bytes < 1 || bytes > ServedChannel.MAX_FRAME_BYTES - Integer.BYTES) {
      throw new IllegalArgumentException("a request of %,d bytes".formatted(bytes));
    }
    if (input.remaining() < Integer.BYTES + bytes) {
      return false;
    }
    int start = input.position() + Integer.BYTES;
    ByteBuffer request = input.slice(start, bytes);
    input.position(start + bytes);
    answer(request);
    return true;
  }

  private void answer(ByteBuffer request) throws IOException {
    GatherServer server = loop.service().stores().rows(served.store());
    reply = loop.takeReply();
    try {
      byte status =
          server == null
              ? Status.GONE
              : server.begin(reply, request, GatherRequest.CHANNEL_PIECE_BYTES);
      if (status != Status.OK) {
        reply.beginStatus(ByteBuffer.wrap(new byte[] {status}));
      } else if (served.reads() != null) {
        served.reads().add(reply.recordsBegun(), reply.recordBytes());
      }
    } catch (IllegalArgumentException | BufferUnderflowException | IndexOutOfBoundsException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      loop.service().refusals().reportFailure(channel.socket().getRemoteSocketAddress(), e);
      reply.beginStatus(Status.failedWithSize("request failed on the peer: " + e));
    }
    send();
  }

  /** Sends as much of the reply as the channel takes; returns whether it is complete. */
  private boolean send() throws IOException {
    boolean isWhole = reply.write(channel, loop.packed());
    if (isWhole) {
      end();
    }
    int operations = isWhole ? SelectionKey.OP_READ : SelectionKey.OP_WRITE;
    if (served.key().interestOps() != operations) {
      served.key().interestOps(operations);
    }
    return isWhole;
  }

  /** Ends the reply, if one is being sent. */
  void end() {
    if (reply == null) {
      return;
    }
    GatherReply ended = reply;
    reply = null;
    try {
      ended.end();
    } finally {
      loop.giveBack(ended);
    }
  }
}
