// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * The metadata of an array, of version 2 or 3.
 *
 * @param files grid of the files: chunks, or shards
 * @param chunk shape of a chunk, which is decoded as a whole; the same as that of a file without
 *     shards
 * @param index index of the shards; null without shards
 * @param codecs codecs of a chunk
 * @param fill element of missing chunks, as in {@link FillValue}; null if undefined
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ArrayMetadata(
    ChunkGrid files, int[] chunk, ShardedChunks.Index index, CodecChain codecs, Object fill) {
  /** Largest size of a decoded chunk in bytes. */
  static final long MAX_CHUNK_BYTES = Integer.MAX_VALUE - 8;

  /**
   * Checks the size of the chunks.
   *
   * @throws Unsupported if it is too large
   */
  ArrayMetadata checked() throws Unsupported {
    long bytes = Math.max(1, codecs.type().bytes());
    for (int length : chunk) {
      bytes *= length; // below 2^63: at most 2^31 elements of 2^20 bytes
    }
    if (bytes > MAX_CHUNK_BYTES) {
      throw new Unsupported(
          "chunks",
          "a chunk has %,d bytes, the limit is %,d: store the array in smaller chunks"
              .formatted(bytes, MAX_CHUNK_BYTES));
    }
    return this;
  }

  /** Returns the grid of the chunks that are decoded as a whole. */
  ChunkGrid grid() {
    return new ChunkGrid(files.shape(), chunk, files.prefix(), files.separator());
  }

  /** Reads a list of integers. */
  static long[] integers(JsonNode list, String field) throws Unsupported {
    if (!list.isArray()) {
      throw new Unsupported(field, "%s is not a list of integers".formatted(list));
    }
    long[] values = new long[list.size()];
    for (int i = 0; i < values.length; i++) {
      if (!list.get(i).isIntegralNumber() || !list.get(i).canConvertToLong()) {
        throw new Unsupported(field, "%s is not a list of integers".formatted(list));
      }
      values[i] = list.get(i).longValue();
    }
    return values;
  }
}
