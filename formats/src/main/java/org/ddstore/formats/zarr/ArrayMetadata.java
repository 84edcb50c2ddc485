// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import org.ddstore.formats.ReadBudget;

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
  private static final int MAX_CODECS = 16;

  /** Checks the size of the chunks. */
  static ArrayMetadata of(
      ChunkGrid files, long[] chunk, ShardedChunks.Index index, CodecChain codecs, Object fill)
      throws Unsupported {
    int[] lengths = new int[chunk.length];
    long bytes = Math.max(1, codecs.type().bytes());
    for (int d = 0; d < chunk.length; d++) {
      if (chunk[d] > ReadBudget.MAX_ARRAY_LENGTH / bytes) {
        throw new Unsupported(
            "chunks",
            "a chunk of %s elements has more than %,d bytes: store the array in smaller chunks"
                .formatted(Arrays.toString(chunk), ReadBudget.MAX_ARRAY_LENGTH));
      }
      bytes *= chunk[d];
      lengths[d] = (int) chunk[d];
    }
    return new ArrayMetadata(files, lengths, index, codecs, fill);
  }

  /** Returns the grid of the chunks that are decoded as a whole. */
  ChunkGrid grid() {
    long[] lengths = Arrays.stream(chunk).asLongStream().toArray();
    return new ChunkGrid(files.shape(), lengths, files.prefix(), files.separator());
  }

  /** Checks the number of codecs, each of which decodes every chunk. */
  static void requireFew(JsonNode codecs, String field) throws Unsupported {
    if (codecs.size() > MAX_CODECS) {
      throw new Unsupported(
          field, "%,d codecs, more than the limit of %d".formatted(codecs.size(), MAX_CODECS));
    }
  }

  /** Reads a list of integers. */
  static long[] integers(JsonNode list, String field) throws Unsupported {
    boolean isLegal = list.isArray();
    long[] values = new long[isLegal ? list.size() : 0];
    for (int i = 0; isLegal && i < values.length; i++) {
      isLegal = list.get(i).isIntegralNumber() && list.get(i).canConvertToLong();
      values[i] = list.get(i).longValue();
    }
    if (!isLegal) {
      throw new Unsupported(
          field,
          "%s is not a list of integers below 2^63"
              .formatted(list.isMissingNode() ? "nothing" : list));
    }
    return values;
  }
}
