// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.memory.RawAddress;
import org.ddstore.memory.Segment;

/**
 * A gather of packed records into contiguous memory, on the owner's side of a remote read. {@link
 * #flush()} completes the copy of the added records. Reused for many gathers. Used by one thread.
 */
public final class PackedGather {
  private static final int FIRST_PIECES = 64;

  private final GatherKernel kernel;
  private ByteBuffer target;
  private long[] pieces = new long[FIRST_PIECES];
  private int[] pieceBytes = new int[FIRST_PIECES];
  private int count;
  private int pending;
  private boolean paged;

  /**
   * @param kernel kernel that copies; null for a loop over buffers
   */
  public PackedGather(GatherKernel kernel) {
    this.kernel = kernel;
  }

  /** Begins to fill a buffer from its position, which {@link #flush()} advances. */
  public void begin(ByteBuffer memory) {
    target = memory;
    count = 0;
    pending = 0;
    paged = false;
  }

  /** Returns the room that is left in the target in bytes. */
  public int room() {
    return target.remaining() - pending;
  }

  /** Adds a part of a record of a segment that the caller retains until the flush. */
  public void add(Segment segment, long row, int skipBytes, int bytes) {
    if (kernel == null) {
      long place = segment.place(row);
      ByteBuffer chunk = segment.chunk(Segment.chunkOf(place));
      target.put(target.position(), chunk, Segment.positionOf(place) + skipBytes, bytes);
      target.position(target.position() + bytes);
    } else {
      addPiece(segment.address(row) + skipBytes, bytes);
      paged |= segment.isPaged();
    }
  }

  /** Adds a piece, merged with the previous one if they are contiguous. */
  private void addPiece(long address, int bytes) {
    pending += bytes;
    if (count > 0 && pieces[count - 1] + pieceBytes[count - 1] == address) {
      pieceBytes[count - 1] += bytes;
      return;
    }
    if (count == pieces.length) {
      pieces = Arrays.copyOf(pieces, 2 * count);
      pieceBytes = Arrays.copyOf(pieceBytes, 2 * count);
    }
    pieces[count] = address;
    pieceBytes[count++] = bytes;
  }

  /** Copies the added records, and advances the position of the target. */
  public void flush() {
    if (count == 0) {
      return;
    }
    int at = target.position();
    if (target.isDirect()) {
      kernel.pack(pieces, pieceBytes, count, RawAddress.of(target) + at);
    } else if (paged) {
      kernel.packPaged(pieces, pieceBytes, count, target.array(), target.arrayOffset() + at);
    } else {
      kernel.pack(pieces, pieceBytes, count, target.array(), target.arrayOffset() + at);
    }
    target.position(at + pending);
    begin(target);
  }
}
