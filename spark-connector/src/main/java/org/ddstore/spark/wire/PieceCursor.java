package org.ddstore.spark.wire;

import org.ddstore.transport.PeerRows;

/** A cursor that splits the fetch of the rows of one process into consecutive requests. */
final class PieceCursor {
  private final PeerRows rows;
  private int lengthsAsked;
  private int bytesAsked;
  private int slot;
  private int run;

  /**
   * A request for the rows of slots [fromSlot, toSlot).
   *
   * @param run index of the run of the first slot
   * @param lengths whether the size of each row is also requested
   * @param skip number of bytes of the first row to skip
   * @param bytes maximum number of bytes requested
   * @param at position of the bytes in the staging memory
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

  /** Returns the next request for lengths, with data if it is the only one; null at the end. */
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

  /** Continues with data, whose first bytes were received with the lengths. */
  void beginData(int bytesCome) {
    run = 0;
    bytesAsked = bytesCome;
  }

  /** Returns the next request for data, once all lengths are known; null at the end. */
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

  /** Returns the end slot, exclusive, of a piece from the current slot to a byte. */
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
