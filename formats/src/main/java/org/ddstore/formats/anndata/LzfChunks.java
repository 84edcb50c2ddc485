// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import io.jhdf.exceptions.UnsupportedHdfException;
import io.jhdf.filter.ByteShuffleFilter;
import io.jhdf.filter.FletcherChecksumFilter;
import io.jhdf.filter.LzfFilter;
import io.jhdf.filter.PipelineFilterWithData;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Chunks compressed by LZF. h5py does not always record the size of a chunk with the filter, and
 * jHDF then fails; here the size is known from the shape of a chunk.
 */
final class LzfChunks {
  private static final int SHUFFLE = 2;
  private static final int FLETCHER = 3;
  private static final int LZF = 32_000;

  private final List<PipelineFilterWithData> filters;
  private final int elementBytes;

  LzfChunks(List<PipelineFilterWithData> filters, int elementBytes) {
    this.filters = filters;
    this.elementBytes = elementBytes;
  }

  /** Returns whether chunks of these filters are compressed by LZF. */
  boolean isUsed() {
    return filters.stream().anyMatch(filter -> filter.getId() == LZF);
  }

  /**
   * Decodes a chunk. A chunk that LZF cannot make smaller is stored as it is.
   *
   * @param raw chunk as it is in the file
   * @param bytes size of the decoded chunk
   */
  byte[] decode(ByteBuffer raw, int bytes) {
    byte[] chunk = new byte[raw.remaining()];
    raw.get(chunk);
    for (int i = filters.size() - 1; i >= 0; i--) { // they are listed in the order of the writer
      int id = filters.get(i).getId();
      chunk =
          switch (id) {
            case LZF -> new LzfFilter().decode(chunk, new int[] {0, 0, bytes});
            case SHUFFLE -> new ByteShuffleFilter().decode(chunk, new int[] {elementBytes});
            case FLETCHER -> new FletcherChecksumFilter().decode(chunk, new int[0]);
            default -> throw new UnsupportedHdfException("filter %d with LZF".formatted(id));
          };
    }
    return chunk;
  }
}
