// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.ddstore.memory.Nonce;

/**
 * The message that updates a {@link Mirror}: the words of a lane, and the piece of the last posted
 * round. Written by {@link LaneUpdateWriter}; little-endian:
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

  static final int NO_PIECE = -1;
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

  /**
   * Parses and checks the bytes after kind and nonce.
   *
   * @param in stays in use as long as the update
   * @throws MalformedMessageException if the content is invalid
   * @throws java.nio.BufferUnderflowException if it is too short
   */
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
}
