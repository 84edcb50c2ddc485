package org.ddstore.transport;

import java.nio.ByteBuffer;
import org.ddstore.memory.Segment;

/** Copies packed records back to back: the owner's side of a read by another process. */
public final class PackedGather {
  private final Segment segment;

  public PackedGather(Segment segment) {
    this.segment = segment;
  }

  /**
   * Copies records of consecutive rows to the target's position and on, until it is full.
   *
   * @param skipBytes of the first record that are left out
   */
  public void copy(long firstRow, int rows, int skipBytes, ByteBuffer target) {
    int skip = skipBytes;
    for (long row = firstRow; row < firstRow + rows && target.hasRemaining(); row++) {
      long place = segment.place(row);
      int bytes = Math.min(segment.recordBytes(row) - skip, target.remaining());
      int from = Segment.positionOf(place) + skip;
      target.put(target.position(), segment.chunk(Segment.chunkOf(place)), from, bytes);
      target.position(target.position() + bytes);
      skip = 0;
    }
  }
}
