package org.ddstore.read;

import java.util.Arrays;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.transport.PeerRows;

/**
 * The indices of one batch whose rows one process serves, each with its position in the batch.
 * Reused for all batches.
 *
 * <p>A key holds a global index in its upper bits and a position in the batch in its lower bits, so
 * that sorting the keys sorts the rows by place.
 */
final class PeerIndices {
  private static final int FIRST_ROWS = 64;

  private final PeerRows rows;
  private long plan;
  private long[] keys = new long[FIRST_ROWS];
  private int added;
  private boolean ascending;

  PeerIndices(PeerRows rows) {
    this.rows = rows;
  }

  PeerRows rows() {
    return rows;
  }

  /** Discards the indices of other plans. Returns whether this is the first call for the plan. */
  boolean beginsIn(long plan) {
    if (this.plan == plan) {
      return false;
    }
    this.plan = plan;
    added = 0;
    ascending = true;
    rows.begin();
    return true;
  }

  void add(long key) {
    if (added == keys.length) {
      keys = Arrays.copyOf(keys, 2 * added);
    }
    ascending &= added == 0 || keys[added - 1] < key;
    keys[added++] = key;
  }

  /**
   * Sorts the keys and assigns a slot to each distinct row.
   *
   * @param bits number of lower bits of a key that hold the position
   */
  void arrange(Placement placement, int bits) {
    if (!ascending) {
      Arrays.sort(keys, 0, added);
    }
    rows.reserveRows(keys.length);
    ExtentMap extents = placement.extents();
    long last = -1;
    long extentEnd = -1;
    int segment = -1;
    for (int k = 0; k < added; k++) {
      long index = keys[k] >>> bits;
      if (index == last) {
        continue;
      }
      if (index != last + 1 || index >= extentEnd) {
        segment += index >= extentEnd ? 1 : 0;
        int extent = extents.extentOf(index);
        extentEnd = extents.firstRow(extent) + extents.rows(extent);
        rows.beginRun(placement.remote(extent), segment, index - extents.firstRow(extent));
      }
      last = index;
      rows.addRow();
    }
    rows.endRuns();
  }

  /** Sets the places of the received rows in a plan. */
  void place(ReadPlan target, int bits) {
    GrowingBuffer staging = rows.staging();
    forEach(
        bits,
        (position, slot) -> {
          int start = rows.start(slot);
          target.place(position, staging, start, rows.start(slot + 1) - start);
        });
  }

  /** Sets the bytes of the ragged records of a plan, if they are known. */
  void lengths(long[] bytes, int bits) {
    if (rows.isMeasured()) {
      forEach(bits, (position, slot) -> bytes[position] = rows.lengthBytes(slot));
    }
  }

  private void forEach(int bits, PositionAndSlot action) {
    long mask = (1L << bits) - 1;
    long last = -1;
    int slot = -1;
    for (int k = 0; k < added; k++) {
      long index = keys[k] >>> bits;
      slot += index == last ? 0 : 1;
      last = index;
      action.accept((int) (keys[k] & mask), slot);
    }
  }

  /** Returns the memory in bytes for the rows of a plan; 0 if ragged or of another plan. */
  long neededBytes(long plan) {
    return this.plan == plan && rows.recordBytes() > 0
        ? GrowingBuffer.capacityFor((long) rows.rows() * rows.recordBytes())
        : 0;
  }

  /** An action on a position in the batch and the slot of its row. */
  @FunctionalInterface
  private interface PositionAndSlot {
    void accept(int position, int slot);
  }
}
