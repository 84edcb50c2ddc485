// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import org.ddstore.types.Schema;

/** The division of records into chunks of whole records, at most {@code maxBytes} each. */
final class ChunkLayout {
  /** Largest size in bytes of a chunk of a mapped segment. */
  static final int MAX_BYTES = 1 << 30;

  /** Largest number of chunks: what Linux maps in a process by default, 64 TiB of full chunks. */
  private static final int MAX_CHUNKS = 1 << 16;

  private ChunkLayout() {}

  /** Returns the number of chunks of a file; throws if they cannot all be mapped. */
  static int checkChunks(long chunks) throws IOException {
    if (chunks > MAX_CHUNKS) {
      throw new IOException(
          "the file has %,d chunks; at most %,d are legal".formatted(chunks, MAX_CHUNKS));
    }
    return (int) chunks;
  }

  /** Returns log2 of the rows per chunk of fixed records: the largest power of two that fits. */
  static int rowShift(Schema schema, int maxBytes) {
    int rows = Math.max(1, maxBytes / schema.fixedBytes());
    return 31 - Integer.numberOfLeadingZeros(rows);
  }
}
