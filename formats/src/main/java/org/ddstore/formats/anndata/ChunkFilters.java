// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import io.jhdf.exceptions.HdfException;
import io.jhdf.exceptions.UnsupportedHdfException;
import io.jhdf.filter.ByteShuffleFilter;
import io.jhdf.filter.DeflatePipelineFilter;
import io.jhdf.filter.LzfFilter;
import io.jhdf.filter.PipelineFilterWithData;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Chunks that jHDF does not decode as the HDF5 library does. With LZF, h5py does not always record
 * the size of a chunk, and jHDF then fails; here the size is known from the shape of a chunk.
 * Checksums of Fletcher, jHDF neither compares nor takes away.
 */
final class ChunkFilters {
  private static final int DEFLATE = 1;
  private static final int SHUFFLE = 2;
  private static final int FLETCHER = 3;
  private static final int LZF = 32_000;

  private final List<PipelineFilterWithData> filters;
  private final int elementBytes;

  ChunkFilters(List<PipelineFilterWithData> filters, int elementBytes) {
    this.filters = filters;
    this.elementBytes = elementBytes;
  }

  /** Returns whether chunks are to be decoded here. */
  boolean isUsed() {
    return filters.stream().anyMatch(filter -> filter.getId() == LZF || filter.getId() == FLETCHER);
  }

  /**
   * Decodes a chunk. A chunk that LZF cannot make smaller is stored as it is.
   *
   * @param raw chunk as it is in the file
   * @param bytes size of the decoded chunk
   * @throws HdfException if it is damaged
   */
  byte[] decode(ByteBuffer raw, int bytes) {
    byte[] chunk = new byte[raw.remaining()];
    raw.get(chunk);
    for (int i = filters.size() - 1; i >= 0; i--) { // they are listed in the order of the writer
      PipelineFilterWithData filter = filters.get(i);
      chunk =
          switch (filter.getId()) {
            case LZF -> new LzfFilter().decode(chunk, new int[] {0, 0, bytes});
            case SHUFFLE -> new ByteShuffleFilter().decode(chunk, new int[] {elementBytes});
            case DEFLATE -> new DeflatePipelineFilter().decode(chunk, filter.getFilterData());
            case FLETCHER -> checked(chunk);
            default ->
                throw new UnsupportedHdfException(
                    "filter %s with LZF or checksums".formatted(filter.getName()));
          };
    }
    return chunk;
  }

  private static byte[] checked(byte... chunk) {
    int length = chunk.length - Integer.BYTES;
    if (length < 0) {
      throw new HdfException("%d bytes have no Fletcher32 checksum".formatted(chunk.length));
    }
    byte[] data = Arrays.copyOf(chunk, length);
    int found = 0;
    for (int i = 0; i < Integer.BYTES; i++) {
      found |= (chunk[length + i] & 0xFF) << (Byte.SIZE * i);
    }
    int expected = fletcher32(data);
    // Releases before 1.6.3 swapped the bytes of both halves on some machines.
    int swapped = Integer.rotateLeft(Integer.reverseBytes(expected), Short.SIZE);
    if (found != expected && found != swapped) {
      throw new HdfException(
          "the Fletcher32 checksum of a chunk is %08x, its data have %08x"
              .formatted(found, expected));
    }
    return data;
  }

  /**
   * Returns the checksum of the HDF5 file format: two sums, modulo 2<sup>16</sup> - 1, of
   * big-endian words of 16 bits. Each half is reduced without a last subtraction, so it may be
   * 0xFFFF in place of 0.
   */
  static int fletcher32(byte... data) {
    long low = 0;
    long high = 0;
    for (int i = 0; i < data.length; i += 2) {
      int second = i + 1 < data.length ? data[i + 1] & 0xFF : 0;
      low = folded(low + ((data[i] & 0xFF) << Byte.SIZE | second));
      high = folded(high + low);
    }
    return (int) (high << Short.SIZE | low);
  }

  /** Returns a sum of at most 2<sup>17</sup> in 16 bits, with the same rest; 0 only for 0. */
  private static long folded(long sum) {
    return (sum & 0xFFFF) + (sum >>> Short.SIZE);
  }
}
