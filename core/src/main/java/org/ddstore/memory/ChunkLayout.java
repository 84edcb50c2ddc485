package org.ddstore.memory;

import org.ddstore.types.Schema;

/** How records are cut into chunks: whole records, at most {@code maxBytes} together. */
final class ChunkLayout {
  /** No chunk of a mapped segment is larger. */
  static final int MAX_BYTES = 1 << 30;

  private ChunkLayout() {}

  /**
   * log2 of the rows of a chunk of fixed records: the largest power of two of rows that fit, so
   * that a place is a shift and a mask.
   */
  static int rowShift(Schema schema, int maxBytes) {
    int rows = Math.max(1, maxBytes / schema.fixedBytes());
    return 31 - Integer.numberOfLeadingZeros(rows);
  }
}
