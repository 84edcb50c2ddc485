package org.ddstore.spark.wire;

import java.nio.ByteBuffer;
import org.ddstore.memory.Nonce;
import org.ddstore.transport.PeerRows;

/**
 * A request for a piece of the packed records of some rows of one process. Big-endian:
 *
 * <pre>
 * byte GATHER | store (16) | byte lengths wanted | int32 bytes to skip | int32 bytes wanted
 * int32 segments | per segment: nonce (16), int32 runs | per run: int64 first row, int32 rows
 * </pre>
 *
 * <p>The reply, if it is {@link Status#OK}: int64 version per segment, int32 bytes per row if
 * lengths are wanted, then the piece: the records of all rows back to back, without the bytes to
 * skip, truncated to the bytes wanted. Requests are stateless.
 */
final class GatherRequest {
  static final byte GATHER = 3;

  /** Maximum number of rows of a request, whose runs fit into a frame. */
  static final int MAX_ROWS = 16 << 10;

  /** Maximum bytes of a piece. Measured over loopback: less costs calls, more costs latency. */
  static final int MAX_PIECE_BYTES = 256 << 10;

  static final int HEADER_BYTES = 1 + Handshake.STORE_BYTES + 1 + 3 * Integer.BYTES;
  static final int SEGMENT_BYTES = 2 * Long.BYTES + Integer.BYTES;
  static final int RUN_BYTES = Long.BYTES + Integer.BYTES;

  private GatherRequest() {}

  /**
   * Encodes the request for the rows of slots [fromSlot, toSlot).
   *
   * @param run index of the run of the first slot
   */
  static ByteBuffer encode(
      Nonce store,
      PeerRows rows,
      int run,
      int fromSlot,
      int toSlot,
      boolean lengths,
      int skipBytes,
      int bytes) {
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
    out.put((byte) (lengths ? 1 : 0)).putInt(skipBytes).putInt(bytes).putInt(segments);
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
}
