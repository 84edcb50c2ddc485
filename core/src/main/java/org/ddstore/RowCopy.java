package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.types.Schema;

/**
 * Reads consecutive packed records of a variable, in windows of bounded memory: remote rows of a
 * window take at most {@link RowLocator#WINDOW_BYTES}, or one row if that is larger. How many rows
 * this is, is known when their lengths have come.
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

  /**
   * @param taker gets each record in turn, little-endian, from position to limit, during the call
   */
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

  /** By the mean record, which says nothing of those that come first. */
  private int firstWindowRows(Placement placement) {
    long meanBytes = source.dataBytes() / Math.max(1, placement.rows());
    return Math.min(MAX_WINDOW_ROWS, RowLocator.windowRows(placement, meanBytes));
  }

  /**
   * As many rows as came last time, or twice as many if their bytes allow it: lengths of rows that
   * do not fit are asked for in vain.
   */
  private int nextWindowRows(Placement placement, int asked, int came, long cameBytes) {
    if (came < asked) {
      return came;
    }
    return source.schema().isFixed() || 2 * cameBytes > RowLocator.RAGGED_WINDOW_BYTES
        ? windowRows
        : Math.min(2 * windowRows, Math.min(MAX_WINDOW_ROWS, RowLocator.windowRows(placement, 1)));
  }

  /** Returns how many rows were copied, of those that were asked for. */
  private int copyWindow(
      Placement placement, long firstRow, int asked, Consumer<ByteBuffer> taker) {
    long[] indices = new long[asked];
    for (int i = 0; i < asked; i++) {
      indices[i] = firstRow + i;
    }
    locator.begin(); // a copy may be of any size
    ReadPlan plan = locator.plan();
    long bytesBefore = plan.fetchedBytes();
    int count = locator.locateWithin(placement, indices, 0, asked, RowLocator.RAGGED_WINDOW_BYTES);
    windowRows = nextWindowRows(placement, asked, count, plan.fetchedBytes() - bytesBefore);
    for (int i = 0; i < count; i++) {
      ByteBuffer memory = plan.source(i);
      int start = plan.position(i);
      taker.accept(memory.slice(start, bytes(plan, i)).order(ByteOrder.LITTLE_ENDIAN));
    }
    if (!plan.isStable()) {
      throw new IllegalStateException(
          "rows of \"%s\" were changed while they were copied".formatted(source.name()));
    }
    return count;
  }

  /** The bytes of a record, which its lengths must not contradict. */
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
