// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

/** An exchange of every rank's bytes with every rank, one slot at a time. */
final class Gather {
  private Gather() {}

  /** Returns all payloads by rank, in new arrays. */
  static byte[][] all(Rounds rounds, byte[] mine) {
    byte[][] all = new byte[rounds.size()][];
    long longest = 0;
    long from = 0;
    do {
      int bytes = pieceBytes(mine.length, from);
      if (bytes > 0) {
        rounds.nextPiece().put(0, mine, (int) from, bytes);
      }
      rounds.step(mine.length, PieceParts.common(bytes));
      for (int r = 0; r < all.length; r++) {
        long total = rounds.totalBytes(r);
        if (from == 0) {
          all[r] = new byte[Math.toIntExact(total)];
          longest = Math.max(longest, total);
        }
        bytes = pieceBytes(total, from);
        if (bytes > 0) {
          rounds.piece(r).get(0, all[r], (int) from, bytes);
        }
      }
      from += Lane.SLOT_BYTES;
    } while (from < longest);
    return all;
  }

  private static int pieceBytes(long total, long from) {
    return (int) Math.max(0, Math.min(Lane.SLOT_BYTES, total - from));
  }
}
