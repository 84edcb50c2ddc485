// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.nio.ByteBuffer;
import org.ddstore.memory.Nonce;
import org.ddstore.transport.PeerRows;

/**
 * A request for a piece of the packed records of some rows of one process: those of slots
 * [fromSlot, toSlot). Big-endian:
 *
 * <pre>
 * byte GATHER | store (16) | byte lengths wanted | int32 bytes to skip | int32 bytes wanted
 * int32 segments | per segment: nonce (16), int32 runs | per run: int64 first row, int32 rows
 * </pre>
 *
 * <p>The reply, if it is {@link Status#OK}: int64 version per segment, int32 bytes per row if
 * lengths are wanted, then the piece: the records of all rows back to back, without the bytes to
 * skip, truncated to the bytes wanted. Requests are stateless. In the other process, {@link
 * WireHandler} passes them to {@link GatherServer}.
 *
 * @param run index of the run of the first slot
 * @param lengths whether the size of each row is also requested
 * @param skip number of bytes of the first row to skip
 * @param bytes maximum number of bytes requested
 * @param at position of the bytes in the staging memory
 */
record GatherRequest(
    int run, int fromSlot, int toSlot, boolean lengths, int skip, int bytes, int at) {
  static final byte GATHER = 3;

  /** Maximum number of rows of a request, whose runs fit into a frame. */
  static final int MAX_ROWS = 16 << 10;

  /** Maximum bytes of a piece. Measured over loopback: less costs calls, more costs latency. */
  static final int MAX_PIECE_BYTES = 256 << 10;

  static final int HEADER_BYTES = 1 + Handshake.STORE_BYTES + 1 + 3 * Integer.BYTES;
  static final int SEGMENT_BYTES = 2 * Long.BYTES + Integer.BYTES;
  static final int RUN_BYTES = Long.BYTES + Integer.BYTES;

  /** Returns the encoded request for rows of a store. */
  ByteBuffer encode(Nonce store, PeerRows rows) {
    int endRun = run;
    int segments = 0;
    while (endRun < rows.runs() && rows.firstSlot(endRun) < toSlot) {
      segments += isFirstOfSegment(rows, run, endRun) ? 1 : 0;
      endRun++;
    }
    ByteBuffer out =
        ByteBuffer.allocate(HEADER_BYTES + segments * SEGMENT_BYTES + (endRun - run) * RUN_BYTES);
    out.put(GATHER);
    Handshake.putStore(out, store);
    out.put((byte) (lengths ? 1 : 0)).putInt(skip).putInt(bytes).putInt(segments);
    int countAt = 0;
    for (int r = run; r < endRun; r++) {
      if (isFirstOfSegment(rows, run, r)) {
        Handshake.putStore(out, rows.segment(r).nonce());
        countAt = out.position();
        out.putInt(0);
      }
      out.putInt(countAt, out.getInt(countAt) + 1);
      int first = Math.max(fromSlot, rows.firstSlot(r));
      int end = Math.min(toSlot, rows.firstSlot(r + 1));
      out.putLong(rows.firstRow(r) + first - rows.firstSlot(r)).putInt(end - first);
    }
    return out.flip();
  }

  static boolean isFirstOfSegment(PeerRows rows, int firstRun, int run) {
    return run == firstRun || rows.segmentNumber(run) != rows.segmentNumber(run - 1);
  }

  /** A cursor that splits the fetch of the rows of one process into consecutive requests. */
  static final class Cursor {
    private final PeerRows rows;
    private int lengthsAsked;
    private int bytesAsked;
    private int slot;
    private int run;

    Cursor(PeerRows rows) {
      this.rows = rows;
    }

    void restart() {
      lengthsAsked = 0;
      bytesAsked = 0;
      slot = 0;
      run = 0;
    }

    /** Returns the next request for lengths, with data if it is the only one; null at the end. */
    GatherRequest nextLengths() {
      if (lengthsAsked == rows.rows()) {
        return null;
      }
      int from = lengthsAsked;
      int to = Math.min(rows.rows(), from + MAX_ROWS);
      lengthsAsked = to;
      boolean all = from == 0 && to == rows.rows();
      advanceRun(from);
      return new GatherRequest(run, from, to, true, 0, all ? MAX_PIECE_BYTES : 0, 0);
    }

    /** Continues with data, whose first bytes were received with the lengths. */
    void beginData(int bytesCome) {
      run = 0;
      bytesAsked = bytesCome;
    }

    /** Returns the next request for data, once all lengths are known; null at the end. */
    GatherRequest nextData() {
      int end = rows.start(rows.rows());
      if (bytesAsked == end) {
        return null;
      }
      while (rows.start(slot + 1) <= bytesAsked) {
        slot++;
      }
      advanceRun(slot);
      int at = bytesAsked;
      int most = Math.min(end - at, MAX_PIECE_BYTES);
      int to = endSlot(at + most);
      int bytes = Math.min(most, rows.start(to) - at);
      bytesAsked += bytes;
      return new GatherRequest(run, slot, to, false, at - rows.start(slot), bytes, at);
    }

    /** Returns the end slot, exclusive, of a piece from the current slot to a byte. */
    private int endSlot(int endByte) {
      int most = Math.min(rows.rows(), slot + MAX_ROWS);
      if (rows.recordBytes() > 0) {
        int size = rows.recordBytes();
        return Math.min(most, endByte / size + (endByte % size == 0 ? 0 : 1));
      }
      int to = slot + 1;
      while (to < most && rows.start(to) < endByte) {
        to++;
      }
      return to;
    }

    private void advanceRun(int toSlot) {
      while (rows.firstSlot(run + 1) <= toSlot) {
        run++;
      }
    }
  }
}
