// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.ddstore.nativeio.ReplyReceiver;
import org.ddstore.spark.wire.connection.Status;

/**
 * The replies that a {@link PeerFetch} expects on a channel, in the order of the requests. The data
 * of a reply go directly into the staging memory. Used by the waiting thread, for one fetch at a
 * time.
 */
final class DataReplies {
  private static final int FIRST_BYTES = 64;
  private static final int MAX_REASON_BYTES = 64 << 10;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final DataChannel channel;
  private final Deque<GatherRequest> expected = new ArrayDeque<>();
  private PeerFetch fetch;
  private GatherRequest piece; // being received, or null
  private ByteBuffer head = ByteBuffer.allocateDirect(FIRST_BYTES); // status and lengths
  private ByteBuffer tail = ByteBuffer.allocateDirect(FIRST_BYTES);

  /** Head, data and tail; of a failure the reason only. */
  private final ByteBuffer[] parts = {NOTHING, NOTHING, NOTHING};

  private boolean hasLengths;
  private ByteBuffer reason; // of a failure, after its size; being received, or null
  private boolean isExpectedInC;

  DataReplies(DataChannel channel) {
    this.channel = channel;
  }

  /** Begins a fetch; no reply is outstanding. */
  void begin(PeerFetch receiver) {
    fetch = receiver;
  }

  boolean isOf(PeerFetch receiver) {
    return fetch == receiver;
  }

  long memoryBytes() {
    return (long) head.capacity() + tail.capacity();
  }

  void expect(GatherRequest request) {
    expected.add(request);
  }

  /** Lets C receive the next reply, if it receives those of this channel. */
  void proceed() {
    if (channel.isInC() && !isExpectedInC && nextPiece()) {
      isExpectedInC = true;
      channel.expect(parts, !hasLengths || !fetch.received().isLast(piece));
    }
  }

  /**
   * Processes what C has received, see {@link DataChannel#arrived}. Does not block.
   *
   * @throws org.ddstore.types.DDStoreException if the content of a reply is illegal
   */
  void arrived(ReplyReceiver.Kind kind, int bytes, IOException error) throws IOException {
    if (error != null) {
      throw error;
    }
    fetch.heard();
    if (kind == ReplyReceiver.Kind.PART) {
      return;
    }
    isExpectedInC = false;
    int remaining = bytes;
    for (ByteBuffer part : parts) {
      int copied = Math.min(remaining, part.remaining());
      part.position(part.position() + copied);
      remaining -= copied;
    }
    progress();
    proceed();
  }

  /**
   * Processes what has arrived. Does not block.
   *
   * @throws org.ddstore.types.DDStoreException if the content of a reply is illegal
   */
  void receive() throws IOException {
    if (!nextPiece()) {
      channel.receiveEnd(); // a channel that has ended stays ready until it is closed
      return;
    }
    while (nextPiece() && channel.receive(parts) > 0) {
      fetch.heard();
      progress();
    }
  }

  /** Returns whether a reply is expected. */
  private boolean nextPiece() {
    if (piece != null) {
      return true;
    }
    piece = expected.poll();
    if (piece == null) {
      return false;
    }
    reason = null;
    hasLengths = !piece.lengths();
    int rows = hasLengths ? 0 : piece.toSlot() - piece.fromSlot();
    head = room(head, GatherReply.headBytes(rows));
    parts[0] = head;
    parts[1] = NOTHING;
    parts[2] = NOTHING;
    if (hasLengths) {
      expectData();
    }
    return true;
  }

  private void expectData() {
    int bytes = fetch.received().dataBytes(piece);
    parts[1] = bytes == 0 ? NOTHING : fetch.received().staging().slice(piece.at(), bytes);
    tail = room(tail, fetch.received().tailBytes(piece));
    parts[2] = tail;
  }

  private static ByteBuffer room(ByteBuffer memory, int bytes) {
    ByteBuffer enough = memory.capacity() < bytes ? ByteBuffer.allocateDirect(2 * bytes) : memory;
    return enough.clear().limit(bytes);
  }

  private void progress() {
    if (reason != null) {
      takeReason();
    } else if (head.get(0) != Status.OK) {
      takeFailure(head.get(0));
    } else if (!hasLengths && !head.hasRemaining()) {
      hasLengths = true;
      fetch.received().takeLengths(piece, head.position(1).slice());
      head.position(head.limit());
      expectData();
    } else if (hasLengths && !tail.hasRemaining()) {
      GatherRequest received = piece;
      piece = null;
      fetch.takeTail(received, tail.flip());
    }
  }

  /** Collects the text of a failure, whose beginning is where lengths and data were expected. */
  private void takeFailure(byte status) {
    if (status != Status.FAILED) {
      fetch.refused(status, NOTHING);
      expected.clear();
      piece = null;
      return;
    }
    reason = ByteBuffer.allocateDirect(MAX_REASON_BYTES);
    for (int part = 0; part < parts.length; part++) {
      ByteBuffer begun = parts[part].duplicate().flip();
      begun.position(part == 0 ? 1 : 0); // after the status
      reason.put(begun.limit(Math.min(begun.limit(), begun.position() + reason.remaining())));
      parts[part] = NOTHING;
    }
    parts[1] = reason;
    takeReason();
  }

  /** Processes the reason of a failure if it is whole, else receives its rest. */
  private void takeReason() {
    int bytes = Integer.BYTES;
    if (reason.position() >= Integer.BYTES) {
      bytes += Math.max(0, Math.min(reason.getInt(0), MAX_REASON_BYTES - Integer.BYTES));
    }
    if (reason.position() < bytes) {
      reason.limit(bytes);
      return;
    }
    fetch.refused(Status.FAILED, reason.slice(Integer.BYTES, bytes - Integer.BYTES));
    expected.clear();
    piece = null;
  }
}
