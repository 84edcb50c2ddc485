package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.ddstore.transport.Placement;
import org.ddstore.transport.ReadPlan;
import org.ddstore.transport.RemoteReader;

/** Reads consecutive packed records of a variable, in windows of bounded memory. */
final class RowCopy implements AutoCloseable {
  private static final long WINDOW_BYTES = 16 << 20;

  private final Variable source;
  private final ReadGate.Pass pass;
  private final ReadPlan plan = new ReadPlan();
  private RemoteReader remoteReader;

  RowCopy(Variable source) {
    this.source = source;
    this.pass = source.gate().newPass();
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
    return Math.max(
        1, Math.min(WINDOW_BYTES / Math.max(1, meanBytes), ReadPlan.maxRows(placement)));
  }

  private void copyWindow(
      Placement placement, long firstRow, int count, Consumer<ByteBuffer> taker) {
    long[] indices = new long[count];
    for (int i = 0; i < count; i++) {
      indices[i] = firstRow + i;
    }
    plan.locate(placement, indices, 0, count);
    if (placement.hasRemote()) {
      if (remoteReader == null) {
        remoteReader = source.newRemoteReader();
      }
      plan.fetch(remoteReader);
    }
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
    if (remoteReader != null) {
      remoteReader.close();
    }
    plan.free();
  }

  @Override
  public String toString() {
    return "copy of \"%s\"".formatted(source.name());
  }
}
