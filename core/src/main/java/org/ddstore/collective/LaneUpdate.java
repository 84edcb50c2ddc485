// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.ddstore.memory.Nonce;

/**
 * The message that updates a {@link Mirror}: the words of a lane, and the piece of the last posted
 * round. Little-endian:
 *
 * <pre>
 * byte kind | 16 bytes nonce of the lane
 * int64 posted | int64 entered | int64 finished | byte state | byte threads, 0 one, 1 several
 * text of call entered | text of the call before
 * if the state is broken:  int32 failure kind | int32 failure rank | text of the failure
 * int16 ranges, -1 without a piece; if there is one, that of round posted - 1:
 *   int64 call | int64 digest | int64 total bytes | ranges x (int32 first byte, int32 bytes) | bytes
 *
 * text: int16 bytes, UTF-8
 * </pre>
 *
 * <p>It holds the state at the time when {@code posted} rounds had been posted, so it can be
 * applied any number of times and in any order: words only grow, and a piece is applied only if it
 * is the next one.
 */
final class LaneUpdate {
  static final byte KIND = 2;

  /** Size of kind and nonce, with which every message begins. */
  static final int PREFIX_BYTES = 1 + 2 * Long.BYTES;

  private static final int NO_PIECE = -1;
  private static final int RANGE_BYTES = 2 * Integer.BYTES;

  private final ByteBuffer in;
  private final long posted;
  private final long entered;
  private final long finished;
  private final byte state;
  private final byte threads;
  private final byte[] text;
  private final byte[] textBefore;
  private final Failure failure;
  private final int ranges;
  private long call;
  private long digest;
  private long totalBytes;
  private int rangesAt;
  private int usedBytes;

  private LaneUpdate(ByteBuffer in) {
    this.in = in;
    posted = in.getLong();
    entered = in.getLong();
    finished = in.getLong();
    state = in.get();
    threads = in.get();
    check(posted >= 0 && finished >= 0 && finished <= entered, "its counts");
    check(state >= Lane.OPEN && state <= Lane.CLOSED, "its state");
    check(threads == 0 || threads == 1, "its threads");
    text = text(Lane.CALL_TEXT_BYTES);
    textBefore = text(Lane.CALL_TEXT_BYTES);
    failure = state == Lane.BROKEN ? failure() : null;
    ranges = in.getShort();
    if (ranges != NO_PIECE) {
      readPiece();
    }
    check(in.remaining() == pieceBytes(), "its length");
  }

  /** Parses and checks the bytes after kind and nonce; the update keeps using them. */
  static LaneUpdate parse(ByteBuffer in) {
    return new LaneUpdate(in);
  }

  static void putPrefix(ByteBuffer out, byte kind, Nonce lane) {
    out.put(kind);
    lane.write(out, out.position());
    out.position(PREFIX_BYTES);
  }

  private Failure failure() {
    int kind = in.getInt();
    int rank = in.getInt();
    byte[] message = text(Lane.FAILURE_TEXT_BYTES);
    return new Failure(
        Failure.Kind.ofCode(kind), rank, new String(message, StandardCharsets.UTF_8));
  }

  private byte[] text(int maxBytes) {
    int length = in.getShort();
    check(length >= 0 && length <= maxBytes, "the length of a text");
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }

  private void readPiece() {
    check(posted > 0 && ranges >= 0, "its piece");
    call = in.getLong();
    digest = in.getLong();
    totalBytes = in.getLong();
    rangesAt = in.position();
    in.position(Math.addExact(rangesAt, ranges * RANGE_BYTES));
    for (int i = 0; i < ranges; i++) {
      long end = (long) from(i) + bytes(i);
      check(from(i) >= usedBytes && bytes(i) >= 0 && end <= Lane.SLOT_BYTES, "a range");
      usedBytes = (int) end;
    }
    long errorBytes = -1 - totalBytes;
    check(errorBytes <= Math.min(usedBytes, Lane.ERROR_TEXT_BYTES), "its total");
  }

  private int pieceBytes() {
    int sum = 0;
    for (int i = 0; i < ranges; i++) {
      sum += bytes(i);
    }
    return sum;
  }

  private int from(int range) {
    return in.getInt(rangesAt + range * RANGE_BYTES);
  }

  private int bytes(int range) {
    return in.getInt(rangesAt + range * RANGE_BYTES + Integer.BYTES);
  }

  private void check(boolean isValid, String part) {
    if (!isValid) {
      throw new MalformedMessageException(
          "invalid lane update before byte " + in.position() + ": " + part);
    }
  }

  long posted() {
    return posted;
  }

  long entered() {
    return entered;
  }

  long finished() {
    return finished;
  }

  long state() {
    return state;
  }

  boolean hasSeveralThreads() {
    return threads != 0;
  }

  /** Returns the text of the call {@link #entered()}; empty before the first. */
  byte[] text() {
    return text;
  }

  /** Returns the text of the previous call; empty if it was omitted. */
  byte[] textBefore() {
    return textBefore;
  }

  /** Returns the failure that the rank announced; null unless the state is {@link Lane#BROKEN}. */
  Failure failureOrNull() {
    return failure;
  }

  boolean hasPiece() {
    return ranges != NO_PIECE;
  }

  long call() {
    return call;
  }

  long digest() {
    return digest;
  }

  long totalBytes() {
    return totalBytes;
  }

  /** Returns the end of the last byte of the piece that was sent. */
  int usedBytes() {
    return usedBytes;
  }

  /** Copies the received bytes to their positions in a piece. */
  void copyPiece(ByteBuffer piece) {
    int at = in.position();
    for (int i = 0; i < ranges; i++) {
      piece.put(from(i), in, at, bytes(i));
      at += bytes(i);
    }
  }

  /** A writer of the messages of a lane into a reused buffer. For one thread at a time. */
  static final class Writer {
    private static final byte[] NO_TEXT = {};
    private static final int WORDS_BYTES = 3 * Long.BYTES + 2;
    private static final int FAILURE_BYTES = 2 * Integer.BYTES;
    private static final int PIECE_BYTES = 3 * Long.BYTES;

    private final Nonce nonce;
    private final LaneMemory memory;
    private ByteBuffer out = ByteBuffer.allocate(0);

    Writer(Nonce nonce, LaneMemory memory) {
      this.nonce = nonce;
      this.memory = memory;
    }

    ByteBuffer words() {
      return write(memory.posted(), memory.state(), true, null);
    }

    /**
     * Returns a message with the words and the piece of the last round, or of the previous one with
     * its words.
     *
     * @param ranges byte ranges of the piece, as {@link PieceParts#ranges} returns them
     * @param isComplete whether to include the text of the previous call, for a reader that may
     *     have missed earlier messages
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
      byte[] reason =
          failure == null ? NO_TEXT : failure.message().getBytes(StandardCharsets.UTF_8);
      int texts = text.length + before.length + reason.length + 4 * Short.BYTES;
      reserve(PREFIX_BYTES + WORDS_BYTES + texts + FAILURE_BYTES + bytes(ranges));
      putPrefix(out, KIND, nonce);
      out.putLong(posted).putLong(entered).putLong(memory.finished()).put((byte) state);
      out.put((byte) (memory.hasSeveralThreads() ? 1 : 0));
      putText(text);
      putText(before);
      if (failure != null) {
        out.putInt(failure.kind().code()).putInt(failure.rank());
        putText(reason);
      }
      if (ranges == null) {
        out.putShort((short) NO_PIECE);
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
        out =
            ByteBuffer.allocate(Math.max(bytes, 2 * out.capacity())).order(ByteOrder.LITTLE_ENDIAN);
      }
      out.clear();
    }
  }
}
