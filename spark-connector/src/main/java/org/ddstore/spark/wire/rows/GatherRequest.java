// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.nio.ByteBuffer;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.transport.PeerRows;

/**
 * A request for a piece of the packed records of some rows of one process: those of slots
 * [fromSlot, toSlot). Big-endian:
 *
 * <pre>
 * byte GATHER | store (16) | byte lengths wanted | int32 bytes to skip | int32 bytes wanted
 * int32 segments | per segment: nonce (16), int32 runs, int32 rows, int64 first row per run,
 *   int32 rows per run, omitted if the numbers of runs and rows are equal
 * </pre>
 *
 * <p>The piece that a {@link GatherReply} returns are the records of all rows back to back, without
 * the bytes to skip, truncated to the bytes wanted. Requests are stateless. On a {@link
 * DataChannel} a request begins after the store, and its size precedes it.
 *
 * @param run index of the run of the first slot
 * @param endRun index after the run of the last slot
 * @param lengths whether the size of each row is also requested
 * @param skip number of bytes of the first row to skip
 * @param bytes maximum number of bytes requested
 * @param at position of the bytes in the staging memory
 */
public record GatherRequest(
    int run, int endRun, int fromSlot, int toSlot, boolean lengths, int skip, int bytes, int at) {
  public static final byte GATHER = 3;

  /** Maximum number of rows of a request, whose runs fit into a frame. */
  static final int MAX_ROWS = 16 << 10;

  /** Maximum bytes of a piece of a connection, whose reply is held as a whole. */
  static final int CONNECTION_PIECE_BYTES = 256 << 10;

  public static final int CHANNEL_PIECE_BYTES = 1 << 20;

  /** Size of what precedes the segments, without kind and store. */
  static final int BODY_HEADER_BYTES = 1 + 3 * Integer.BYTES;

  public static final int HEADER_BYTES = 1 + Handshake.STORE_BYTES + BODY_HEADER_BYTES;
  public static final int SEGMENT_BYTES = 2 * Long.BYTES + 2 * Integer.BYTES;
  static final int RUN_BYTES = Long.BYTES + Integer.BYTES;

  ByteBuffer encode(Nonce store, PeerRows rows) {
    ByteBuffer out = ByteBuffer.allocate(1 + Handshake.STORE_BYTES + maxBodyBytes(rows));
    out.put(GATHER);
    Handshake.putStore(out, store);
    putBody(out, rows);
    return out.flip();
  }

  int segments(PeerRows rows) {
    return rows.segmentNumber(endRun - 1) - rows.segmentNumber(run) + 1;
  }

  /** Returns the maximum size of the request without kind and store, in bytes. */
  int maxBodyBytes(PeerRows rows) {
    int runBytes = toSlot - fromSlot == endRun - run ? Long.BYTES : RUN_BYTES;
    return BODY_HEADER_BYTES + segments(rows) * SEGMENT_BYTES + (endRun - run) * runBytes;
  }

  /** Appends the request without kind and store. */
  void putBody(ByteBuffer out, PeerRows rows) {
    out.put((byte) (lengths ? 1 : 0)).putInt(skip).putInt(bytes).putInt(segments(rows));
    for (int first = run; first < endRun; ) {
      int end = first + 1;
      while (end < endRun && rows.segmentNumber(end) == rows.segmentNumber(first)) {
        end++;
      }
      putSegment(out, rows, first, end);
      first = end;
    }
  }

  private void putSegment(ByteBuffer out, PeerRows rows, int first, int end) {
    Handshake.putStore(out, rows.segment(first).nonce());
    int count = endOf(rows, end - 1) - startOf(rows, first);
    out.putInt(end - first).putInt(count);
    int skipped = startOf(rows, first) - rows.firstSlot(first);
    int firstRowAt = out.position();
    rows.putFirstRows(out, first, end);
    out.putLong(firstRowAt, rows.firstRow(first) + skipped);
    for (int r = first; count > end - first && r < end; r++) {
      out.putInt(endOf(rows, r) - startOf(rows, r));
    }
  }

  private int startOf(PeerRows rows, int r) {
    return Math.max(fromSlot, rows.firstSlot(r));
  }

  private int endOf(PeerRows rows, int r) {
    return Math.min(toSlot, rows.firstSlot(r + 1));
  }

  /** A cursor that splits the fetch of the rows of one process into consecutive requests. */
  static final class Cursor {
    private final PeerRows rows;
    private int lengthsAsked;
    private int bytesAsked;
    private int slot;

    Cursor(PeerRows rows) {
      this.rows = rows;
    }

    void restart() {
      lengthsAsked = 0;
      bytesAsked = 0;
      slot = 0;
    }

    /** Returns the next request for lengths, with data if it is the only one; null at the end. */
    GatherRequest nextLengths(int pieceBytes) {
      if (lengthsAsked == rows.rows()) {
        return null;
      }
      int from = lengthsAsked;
      int to = Math.min(rows.rows(), from + MAX_ROWS);
      lengthsAsked = to;
      boolean all = from == 0 && to == rows.rows();
      return request(from, to, true, 0, all ? pieceBytes : 0, 0);
    }

    /** Continues with data, whose first bytes were received with the lengths. */
    void beginData(int bytesCome) {
      bytesAsked = bytesCome;
    }

    /** Returns the next request for data, once all lengths are known; null at the end. */
    GatherRequest nextData(int pieceBytes) {
      int end = rows.start(rows.rows());
      if (bytesAsked == end) {
        return null;
      }
      while (rows.start(slot + 1) <= bytesAsked) {
        slot++;
      }
      int at = bytesAsked;
      int limit = Math.min(end - at, pieceBytes);
      int to = endSlot(at + limit);
      int bytes = Math.min(limit, rows.start(to) - at);
      bytesAsked += bytes;
      return request(slot, to, false, at - rows.start(slot), bytes, at);
    }

    private GatherRequest request(int from, int to, boolean lengths, int skip, int bytes, int at) {
      int run = rows.runOf(from);
      int endRun = rows.runOf(to - 1) + 1;
      return new GatherRequest(run, endRun, from, to, lengths, skip, bytes, at);
    }

    /** Returns the end slot, exclusive, of a piece from the current slot to a byte. */
    private int endSlot(int endByte) {
      int limit = Math.min(rows.rows(), slot + MAX_ROWS);
      if (rows.recordBytes() > 0) {
        int size = rows.recordBytes();
        return Math.min(limit, endByte / size + (endByte % size == 0 ? 0 : 1));
      }
      int to = slot + 1;
      while (to < limit && rows.start(to) < endByte) {
        to++;
      }
      return to;
    }
  }
}
