// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.memory.Segment;

/**
 * A gather of packed records into contiguous memory, on the owner's side of a remote read. Used for
 * one request; {@link #flush()} completes the copy of the added records.
 */
public final class PackedGather {
  private static final int FIRST_PIECES = 64;

  private final GatherKernel kernel;
  private final ByteBuffer target;
  private long[] pieces = new long[FIRST_PIECES];
  private int[] pieceBytes = new int[FIRST_PIECES];
  private int count;
  private int pending;
  private boolean paged;

  /**
   * @param kernel kernel that copies; null for a loop over buffers
   * @param target heap buffer, filled from its position, which advances
   */
  public PackedGather(GatherKernel kernel, ByteBuffer target) {
    this.kernel = kernel;
    this.target = target;
  }

  /**
   * Adds records of consecutive rows while the target has room.
   *
   * @param segment segment that the caller retains until the flush
   * @param skipBytes number of leading bytes of the first record to skip
   * @throws IllegalArgumentException if the first record is shorter than {@code skipBytes}
   */
  public void add(Segment segment, long firstRow, int rows, int skipBytes) {
    int skip = skipBytes;
    for (long row = firstRow; row < firstRow + rows && room() > 0; row++) {
      int left = segment.recordBytes(row) - skip;
      if (left < 0) {
        throw new IllegalArgumentException(
            "cannot skip %,d bytes of a record of %,d bytes".formatted(skip, left + skip));
      }
      int bytes = Math.min(left, room());
      if (kernel == null) {
        copy(segment, segment.place(row), skip, bytes);
      } else {
        addPiece(segment.address(row) + skip, bytes);
        paged |= segment.isPaged();
      }
      skip = 0;
    }
  }

  private int room() {
    return target.remaining() - pending;
  }

  private void copy(Segment segment, long place, int skip, int bytes) {
    int from = Segment.positionOf(place) + skip;
    target.put(target.position(), segment.chunk(Segment.chunkOf(place)), from, bytes);
    target.position(target.position() + bytes);
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

  /** Copies the added records. */
  public void flush() {
    if (count > 0) {
      int at = target.arrayOffset() + target.position();
      if (paged) {
        kernel.packPaged(pieces, pieceBytes, count, target.array(), at);
      } else {
        kernel.pack(pieces, pieceBytes, count, target.array(), at);
      }
      target.position(target.position() + pending);
      count = 0;
      pending = 0;
      paged = false;
    }
  }
}
