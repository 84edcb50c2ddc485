// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.transport.PeerRows;
import org.ddstore.types.DDStoreException;

/**
 * The rows of a {@link PeerFetch} as they arrive: what to request next, where it belongs, and
 * whether all pieces have the same versions. Guarded by the lock of the fetch.
 */
final class ReceivedRows {
  private static final long UNKNOWN_VERSION = -1;

  private final PeerRows rows;
  private final GatherRequest.Cursor cursor;
  private ByteBuffer staging; // null until the lengths of ragged rows are known
  private long[] versions;
  private boolean torn;
  private int lengthsCome;
  private int bytesCome;

  ReceivedRows(PeerRows rows) {
    this.rows = rows;
    this.cursor = new GatherRequest.Cursor(rows);
  }

  void restart() {
    torn = false;
    versions = new long[rows.segments()];
    Arrays.fill(versions, UNKNOWN_VERSION);
    lengthsCome = 0;
    bytesCome = 0;
    cursor.restart();
    staging = rows.recordBytes() > 0 ? rows.reserve() : null;
  }

  /**
   * Returns the next request, or null if none can be made before more replies arrive.
   *
   * @param pieceBytes maximum bytes of its rows
   */
  GatherRequest nextPiece(int pieceBytes) {
    return staging == null ? cursor.nextLengths(pieceBytes) : cursor.nextData(pieceBytes);
  }

  /** Sets the lengths of a piece; the staging memory has room for its data afterwards. */
  void takeLengths(GatherRequest piece, ByteBuffer lengths) {
    int count = piece.toSlot() - piece.fromSlot();
    for (int s = piece.fromSlot(); s < piece.toSlot(); s++) {
      rows.setLength(s, checkLength(lengths.getInt()));
    }
    if (lengthsCome + count == rows.rows()) {
      staging = rows.reserve();
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

  /** Returns the size of the data of a piece in bytes, once its lengths are known. */
  int dataBytes(GatherRequest piece) {
    return piece.lengths() && piece.bytes() > 0
        ? Math.min(piece.bytes(), rows.start(rows.rows()))
        : piece.bytes();
  }

  ByteBuffer staging() {
    return staging;
  }

  /** Copies lengths and data of a whole reply, from after its status to its end part. */
  void takeAll(GatherRequest piece, ByteBuffer reply) {
    int lengths = piece.lengths() ? piece.toSlot() - piece.fromSlot() : 0;
    int dataAt = reply.position() - 1 + GatherReply.headBytes(lengths);
    if (piece.lengths()) {
      takeLengths(piece, reply);
    }
    int bytes = dataBytes(piece);
    if (reply.limit() - dataAt < bytes) {
      throw new BufferUnderflowException();
    }
    if (bytes > 0) {
      staging.put(piece.at(), reply, dataAt, bytes);
    }
    reply.position(dataAt + bytes);
  }

  /** Returns the size of the end of a reply in bytes. */
  int tailBytes(GatherRequest piece) {
    return GatherReply.tailBytes(piece.segments(rows));
  }

  /**
   * Processes the end of a reply, whose data are in the staging memory.
   *
   * @return false if the rows were being changed, so that the piece must be requested again
   */
  boolean takeTail(GatherRequest piece, ByteBuffer tail) {
    byte status = tail.get();
    int first = rows.segmentNumber(piece.run());
    for (int segment = first; segment < first + piece.segments(rows); segment++) {
      long version = tail.getLong();
      if (status == Status.OK) {
        checkVersion(segment, version);
      }
    }
    if (status != Status.OK) {
      staging = piece.lengths() ? null : staging; // rows with lengths do not change in place today
      return false;
    }
    int bytes = dataBytes(piece);
    bytesCome += bytes;
    if (piece.lengths()) {
      lengthsCome += piece.toSlot() - piece.fromSlot();
      if (lengthsCome == rows.rows()) {
        cursor.beginData(bytes);
      }
    }
    return true;
  }

  /** Checks that all pieces have the same segment version, because a record can span two pieces. */
  private void checkVersion(int segment, long version) {
    torn |= versions[segment] != UNKNOWN_VERSION && versions[segment] != version;
    versions[segment] = version;
  }

  boolean isComplete() {
    return staging != null && bytesCome == rows.start(rows.rows());
  }

  /** Returns whether a piece is all that is missing, once its lengths are known. */
  boolean isLast(GatherRequest piece) {
    return staging != null && bytesCome + dataBytes(piece) == rows.start(rows.rows());
  }

  /** Returns whether rows changed between two pieces. */
  boolean isTorn() {
    return torn;
  }

  int bytes() {
    return bytesCome;
  }
}
