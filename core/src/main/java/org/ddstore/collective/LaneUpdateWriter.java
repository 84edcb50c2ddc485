// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.ddstore.memory.Nonce;

/**
 * A writer of the {@link LaneUpdate} messages of a lane into a reused buffer. For one thread at a
 * time.
 */
final class LaneUpdateWriter {
  private static final byte[] NO_TEXT = {};
  private static final int WORDS_BYTES = 3 * Long.BYTES + 2;
  private static final int FAILURE_BYTES = 2 * Integer.BYTES;
  private static final int PIECE_BYTES = 3 * Long.BYTES;
  private static final int RANGE_BYTES = 2 * Integer.BYTES;

  private final Nonce nonce;
  private final LaneMemory memory;
  private ByteBuffer out = ByteBuffer.allocate(0);

  LaneUpdateWriter(Nonce nonce, LaneMemory memory) {
    this.nonce = nonce;
    this.memory = memory;
  }

  /** Returns a message with the current words and no piece. */
  ByteBuffer words() {
    return write(memory.posted(), memory.state(), true, null);
  }

  /**
   * Returns a message with the words and the piece of the last round, or of the previous one with
   * its words.
   *
   * @param ranges byte ranges of the piece, as {@link PieceParts#ranges} returns them
   * @param isComplete whether to include the text of the previous call, for a reader that may have
   *     missed earlier messages
   */
  ByteBuffer piece(long round, int[] ranges, boolean isComplete) {
    boolean last = round + 1 == memory.posted();
    return write(round + 1, last ? memory.state() : Lane.OPEN, isComplete, ranges);
  }

  private ByteBuffer write(long posted, long state, boolean isComplete, int[] ranges) {
    long entered = memory.entered();
    byte[] text = entered > 0 ? memory.callTextBytes(entered) : NO_TEXT;
    byte[] before = isComplete && entered > 1 ? memory.callTextBytes(entered - 1) : NO_TEXT;
    Failure failure = state == Lane.BROKEN ? memory.failure() : null;
    byte[] reason = failure == null ? NO_TEXT : failure.message().getBytes(StandardCharsets.UTF_8);
    int texts = text.length + before.length + reason.length + 4 * Short.BYTES;
    reserve(LaneUpdate.PREFIX_BYTES + WORDS_BYTES + texts + FAILURE_BYTES + bytes(ranges));
    LaneUpdate.putPrefix(out, LaneUpdate.KIND, nonce);
    out.putLong(posted).putLong(entered).putLong(memory.finished()).put((byte) state);
    out.put((byte) (memory.hasSeveralThreads() ? 1 : 0));
    putText(text);
    putText(before);
    if (failure != null) {
      out.putInt(failure.kind().code()).putInt(failure.rank());
      putText(reason);
    }
    if (ranges == null) {
      out.putShort((short) LaneUpdate.NO_PIECE);
    } else {
      putPiece(posted - 1, ranges);
    }
    return out.flip();
  }

  private void putPiece(long round, int[] ranges) {
    out.putShort((short) (ranges.length / 2));
    out.putLong(memory.call(round)).putLong(memory.digest(round));
    out.putLong(memory.totalBytes(round));
    for (int i = 0; i < ranges.length; i += 2) {
      out.putInt(ranges[i]).putInt(ranges[i + 1] - ranges[i]);
    }
    ByteBuffer piece = memory.piece(round);
    for (int i = 0; i < ranges.length; i += 2) {
      out.put(piece.slice(ranges[i], ranges[i + 1] - ranges[i]));
    }
  }

  private void putText(byte[] text) {
    out.putShort((short) text.length).put(text);
  }

  private static int bytes(int[] ranges) {
    if (ranges == null) {
      return 0;
    }
    int bytes = PIECE_BYTES + ranges.length / 2 * RANGE_BYTES;
    for (int i = 0; i < ranges.length; i += 2) {
      bytes += ranges[i + 1] - ranges[i];
    }
    return bytes;
  }

  private void reserve(int bytes) {
    if (out.capacity() < bytes) {
      out = ByteBuffer.allocate(Math.max(bytes, 2 * out.capacity())).order(ByteOrder.LITTLE_ENDIAN);
    }
    out.clear();
  }
}
