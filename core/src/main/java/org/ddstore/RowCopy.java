// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.types.Schema;

/**
 * A reader of consecutive packed records of a variable, in windows of bounded memory: the remote
 * rows of a window take at most {@link RowLocator#WINDOW_BYTES}, or one row if that is larger. The
 * number of rows in a window is known when their lengths have been received.
 */
final class RowCopy implements AutoCloseable {
  private static final int MAX_WINDOW_ROWS = 1 << 16;

  private final Variable source;
  private final ReadGate.Pass pass;
  private final RowLocator locator;
  private int windowRows; // of the next window; 0 before the first one

  RowCopy(Variable source) {
    this.source = source;
    this.pass = source.gate().newPass();
    this.locator = new RowLocator(source, null);
  }

  /** Copies rows; the taker's little-endian buffer holds a record and is valid during the call. */
  void copy(long firstRow, long count, Consumer<ByteBuffer> taker) {
    pass.enter(this);
    try {
      Placement placement = source.placement();
      placement.check(firstRow, count, source.name());
      if (windowRows == 0) {
        windowRows = firstWindowRows(placement);
      }
      long end = firstRow + count;
      long row = firstRow;
      while (row < end) {
        row += copyWindow(placement, row, (int) Math.min(windowRows, end - row), taker);
      }
    } finally {
      pass.exit();
    }
  }

  /** Estimates the rows of the first window from the mean record size. */
  private int firstWindowRows(Placement placement) {
    long meanBytes = source.dataBytes() / Math.max(1, placement.rows());
    return Math.min(MAX_WINDOW_ROWS, RowLocator.windowRows(placement, meanBytes));
  }

  /**
   * Returns the size of the next window: the rows received last time, or twice that number if their
   * bytes permit it. Requesting the lengths of rows that do not fit is wasted work.
   */
  private int nextWindowRows(Placement placement, int requested, int received, long receivedBytes) {
    if (received < requested) {
      return received;
    }
    return source.schema().isFixed() || 2 * receivedBytes > RowLocator.RAGGED_WINDOW_BYTES
        ? windowRows
        : Math.min(2 * windowRows, Math.min(MAX_WINDOW_ROWS, RowLocator.windowRows(placement, 1)));
  }

  /** Copies the next window and returns the number of rows copied, at most {@code requested}. */
  private int copyWindow(
      Placement placement, long firstRow, int requested, Consumer<ByteBuffer> taker) {
    long[] indices = new long[requested];
    for (int i = 0; i < requested; i++) {
      indices[i] = firstRow + i;
    }
    locator.begin(); // a new deadline, because a copy may have any size
    ReadPlan plan = locator.plan();
    long bytesBefore = plan.remote().fetchedBytes();
    int count = locator.locate(placement, indices, 0, requested, RowLocator.RAGGED_WINDOW_BYTES);
    windowRows =
        nextWindowRows(placement, requested, count, plan.remote().fetchedBytes() - bytesBefore);
    for (int i = 0; i < count; i++) {
      ByteBuffer memory = plan.source(i);
      int start = plan.position(i);
      taker.accept(memory.slice(start, bytes(plan, i)).order(ByteOrder.LITTLE_ENDIAN));
    }
    if (!plan.isStable()) {
      throw new IllegalStateException(
          "rows of \"%s\" changed while they were copied: copy them outside of epochBegin()"
              .formatted(source.name()));
    }
    return count;
  }

  /** Returns the size of a record in bytes and checks it against the lengths in the record. */
  private int bytes(ReadPlan plan, int i) {
    Schema schema = source.schema();
    if (schema.isFixed()) {
      return schema.fixedBytes();
    }
    int bytes = plan.recordBytes(i);
    if (bytes < schema.prefixBytes()
        || schema.recordBytes(plan.source(i), plan.position(i)) != bytes) {
      throw plan.damaged(i);
    }
    return bytes;
  }

  @Override
  public void close() {
    pass.retire(this);
    locator.close();
  }

  @Override
  public String toString() {
    return "copy of \"%s\"".formatted(source.name());
  }
}
