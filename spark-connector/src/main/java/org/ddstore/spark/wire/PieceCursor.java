package org.ddstore.spark.wire;

import org.ddstore.transport.PeerRows;

/** Cuts the reading of the rows of one process into requests, one after the other. */
final class PieceCursor {
  private final PeerRows rows;
  private int lengthsAsked;
  private int bytesAsked;
  private int slot;
  private int run;

  /**
   * A request for the rows of slots [fromSlot, toSlot).
   *
   * @param run of the first slot
   * @param lengths whether the bytes of each row are wanted, too
   * @param skip bytes of the first row that are left out
   * @param bytes wanted, at most
   * @param at where they go in the staging
   */
  record Piece(int run, int fromSlot, int toSlot, boolean lengths, int skip, int bytes, int at) {}

  PieceCursor(PeerRows rows) {
    this.rows = rows;
  }

  void restart() {
    lengthsAsked = 0;
    bytesAsked = 0;
    slot = 0;
    run = 0;
  }

  /** The next request for lengths, with as much data as fits if it is the only one; or null. */
  Piece nextLengths() {
    if (lengthsAsked == rows.rows()) {
      return null;
    }
    int from = lengthsAsked;
    int to = Math.min(rows.rows(), from + GatherRequest.MAX_ROWS);
    lengthsAsked = to;
    boolean all = from == 0 && to == rows.rows();
    advanceRun(from);
    return new Piece(run, from, to, true, 0, all ? GatherRequest.MAX_PIECE_BYTES : 0, 0);
  }

  /** Goes on with data, of which the first bytes have come with the lengths. */
  void beginData(int bytesCome) {
    run = 0;
    bytesAsked = bytesCome;
  }

  /** The next request for data, once all lengths are known; or null. */
  Piece nextData() {
    int end = rows.start(rows.rows());
    if (bytesAsked == end) {
      return null;
    }
    while (rows.start(slot + 1) <= bytesAsked) {
      slot++;
    }
    advanceRun(slot);
    int at = bytesAsked;
    int most = Math.min(end - at, GatherRequest.MAX_PIECE_BYTES);
    int to = endSlot(at + most);
    int bytes = Math.min(most, rows.start(to) - at);
    bytesAsked += bytes;
    return new Piece(run, slot, to, false, at - rows.start(slot), bytes, at);
  }

  /** The slot after the last one of a piece that begins in the present slot and ends at a byte. */
  private int endSlot(int endByte) {
    int most = Math.min(rows.rows(), slot + GatherRequest.MAX_ROWS);
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
