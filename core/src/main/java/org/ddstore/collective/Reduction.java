package org.ddstore.collective;

import java.nio.ByteBuffer;

/**
 * Reduces the arrays of all ranks, a slot at a time: each rank joins the same pieces in rank order,
 * so all get the same bits. Needs one slot's worth of extra heap.
 */
abstract class Reduction {
  private final int length;
  private final int elementBytes;

  Reduction(int length, int elementBytes) {
    this.length = length;
    this.elementBytes = elementBytes;
  }

  /** Elements that fit a slot; no buffer needs to be longer than that or the array. */
  static int pieceElements(int length, int elementBytes) {
    return Math.min(length, Lane.SLOT_BYTES / elementBytes);
  }

  final void run(Rounds rounds) {
    int step = Lane.SLOT_BYTES / elementBytes;
    int from = 0;
    do {
      int count = Math.min(step, length - from);
      write(rounds.nextPiece(), from, count);
      rounds.step((long) length * elementBytes, PieceParts.common(count * elementBytes));
      read(rounds.piece(0), from, count);
      for (int r = 1; r < rounds.size(); r++) {
        join(rounds.piece(r), from, count);
      }
      settle(from, count);
      from += count;
    } while (from < length);
  }

  /** Copies elements [from, from + count) of the array into the piece. */
  abstract void write(ByteBuffer piece, int from, int count);

  /** Replaces them by those of the piece. */
  abstract void read(ByteBuffer piece, int from, int count);

  /** Joins those of the piece to them. */
  abstract void join(ByteBuffer piece, int from, int count);

  /** Removes what the processor may choose freely: which NaN an operation on two NaN returns. */
  abstract void settle(int from, int count);
}
