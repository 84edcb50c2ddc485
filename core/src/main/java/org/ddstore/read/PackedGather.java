package org.ddstore.read;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.memory.Segment;

/**
 * Copies packed records back to back: the owner's side of a read by another process. For one
 * request; what was added is in the target after {@link #flush()}.
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
   * @param kernel null for a loop over buffers
   * @param target on the heap; filled from its position on, which moves
   */
  public PackedGather(GatherKernel kernel, ByteBuffer target) {
    this.kernel = kernel;
    this.target = target;
  }

  /**
   * Adds records of consecutive rows, as far as the target has room.
   *
   * @param segment held by the caller until the flush
   * @param skipBytes of the first record that are left out
   * @throws IllegalArgumentException if it has not so many
   */
  public void add(Segment segment, long firstRow, int rows, int skipBytes) {
    int skip = skipBytes;
    for (long row = firstRow; row < firstRow + rows && room() > 0; row++) {
      int left = segment.recordBytes(row) - skip;
      if (left < 0) {
        throw new IllegalArgumentException(
            "%,d bytes to be left out of a record of %,d".formatted(skip, left + skip));
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

  /** Neighbours make one piece. */
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

  /** Copies what was added. */
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
