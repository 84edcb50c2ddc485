package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.ddstore.transport.Placement;
import org.ddstore.transport.ReadPlan;

/** Reads consecutive packed records of a variable, in windows of bounded memory. */
final class RowCopy implements AutoCloseable {
  private static final int MAX_WINDOW_ROWS = 1 << 16;

  private final Variable source;
  private final ReadGate.Pass pass;
  private final RowLocator locator;

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
      long window = windowRows(placement);
      for (long row = firstRow; row < firstRow + count; row += window) {
        copyWindow(placement, row, (int) Math.min(window, firstRow + count - row), taker);
      }
    } finally {
      pass.exit();
    }
  }

  /** A mean record decides; one that is much larger only needs more memory for a moment. */
  private long windowRows(Placement placement) {
    long meanBytes = source.dataBytes() / Math.max(1, placement.rows());
    return Math.min(MAX_WINDOW_ROWS, RowLocator.windowRows(placement, meanBytes));
  }

  private void copyWindow(
      Placement placement, long firstRow, int count, Consumer<ByteBuffer> taker) {
    long[] indices = new long[count];
    for (int i = 0; i < count; i++) {
      indices[i] = firstRow + i;
    }
    locator.begin(); // a copy may be of any size
    locator.locate(placement, indices, 0, count);
    ReadPlan plan = locator.plan();
    for (int i = 0; i < count; i++) {
      ByteBuffer memory = plan.source(i);
      int start = plan.position(i);
      int bytes = (int) source.schema().recordBytes(memory, start);
      taker.accept(memory.slice(start, bytes).order(ByteOrder.LITTLE_ENDIAN));
    }
    if (!plan.isStable()) {
      throw new IllegalStateException(
          "rows of \"%s\" were changed while they were copied".formatted(source.name()));
    }
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
