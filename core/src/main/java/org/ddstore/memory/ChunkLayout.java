// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import org.ddstore.types.Schema;

/** The division of records into chunks of whole records, at most {@code maxBytes} each. */
final class ChunkLayout {
  /** Largest size in bytes of a chunk of a mapped segment. */
  static final int MAX_BYTES = 1 << 30;

  private ChunkLayout() {}

  /** Returns log2 of the rows per chunk of fixed records: the largest power of two that fits. */
  static int rowShift(Schema schema, int maxBytes) {
    int rows = Math.max(1, maxBytes / schema.fixedBytes());
    return 31 - Integer.numberOfLeadingZeros(rows);
  }
}
