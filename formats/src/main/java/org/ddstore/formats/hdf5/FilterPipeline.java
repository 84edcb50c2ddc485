// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.formats.ReadBudget;

/** The filters that a writer has applied to each chunk, in its order. */
record FilterPipeline(List<Filter> filters) {
  private static final int DEFLATE = 1;
  private static final int SHUFFLE = 2;
  private static final int FLETCHER = 3;
  private static final int LZF = 32_000;
  private static final int LZ4 = 32_004;
  private static final int BITSHUFFLE = 32_008;
  private static final int ZSTD = 32_015;

  /** Codes 3 bytes for a run of 264. */
  private static final int LZF_RATIO = 88;

  /** H5Z_MAX_NFILTERS. */
  private static final int MAX_FILTERS = 32;

  record Filter(int id, String name, List<Integer> parameters) {
    boolean isChecksum() {
      return id == FLETCHER;
    }

    /** Returns the ratio of decoded to stored bytes that damaged data cannot exceed. */
    long maxRatio() {
      return switch (id) {
        case SHUFFLE, FLETCHER -> 1;
        case LZF -> LZF_RATIO;
        case LZ4, BITSHUFFLE -> ReadBudget.LZ4_RATIO;
        default -> ReadBudget.DEFLATE_RATIO;
      };
    }
  }

  /** Reads the message; null stands for no filters. */
  static FilterPipeline read(Cursor message) {
    List<Filter> filters = new ArrayList<>();
    if (message == null) {
      return new FilterPipeline(filters);
    }
    int version = message.version("filter pipeline", 1, 2);
    int count = message.u8();
    if (count > MAX_FILTERS) {
      throw Hdf5Exception.damaged(
          "%d filters, more than the limit of HDF5 of %d".formatted(count, MAX_FILTERS));
    }
    message.skip(version == 1 ? 6 : 0);
    for (int i = 0; i < count; i++) {
      filters.add(filter(message, version));
    }
    return new FilterPipeline(filters);
  }

  private static Filter filter(Cursor message, int version) {
    int id = message.u16();
    int nameBytes = version == 1 || id >= 256 ? message.u16() : 0;
    message.skip(2);
    int values = message.u16();
    String name = "";
    if (nameBytes > 0) {
      int start = message.position();
      Cursor text = message.part(nameBytes);
      name = new String(text.take(nameBytes), StandardCharsets.UTF_8).split("\0", 2)[0];
      if (version == 1) {
        message.align(start);
      }
    }
    List<Integer> parameters = new ArrayList<>();
    for (int i = 0; i < values; i++) {
      parameters.add((int) message.u32());
    }
    message.skip(version == 1 && values % 2 == 1 ? 4 : 0);
    return new Filter(id, name, parameters);
  }

  boolean isEmpty() {
    return filters.isEmpty();
  }

  /** Returns the filters of a chunk; each set bit of the mask leaves one out. */
  private List<Filter> applied(int mask) {
    List<Filter> applied = new ArrayList<>();
    for (int i = 0; i < filters.size(); i++) {
      if (i >= Integer.SIZE || (mask >>> i & 1) == 0) {
        applied.add(filters.get(i));
      }
    }
    return applied;
  }

  /**
   * Checks the declared size of a chunk against its stored size.
   *
   * @param mask filters that the writer has left out
   * @param chunkBytes declared size of the decoded chunk
   */
  void requireBacked(String file, String what, long storedBytes, int mask, long chunkBytes) {
    List<Filter> applied = applied(mask);
    // A filter holds its input and its output, and the chunk is copied from there.
    ReadBudget.requireHeld(
        file, what, Math.max(chunkBytes, limit(applied, chunkBytes) * Math.min(2, applied.size())));
    long ratio = 1;
    for (Filter filter : applied) {
      if (filter.id == ZSTD && chunkBytes > storedBytes * ReadBudget.DEFLATE_RATIO) {
        ReadBudget.requireClaim(file, what, chunkBytes);
        return;
      }
      ratio = Math.min(Integer.MAX_VALUE, ratio * filter.maxRatio());
    }
    if (ratio > ReadBudget.DEFLATE_RATIO && chunkBytes > storedBytes * ReadBudget.DEFLATE_RATIO) {
      ReadBudget.requireClaim(file, what, chunkBytes);
    }
    if (chunkBytes / ratio > storedBytes) {
      throw Hdf5Exception.damaged(
          "%s has %,d bytes instead of %,d".formatted(what, storedBytes, chunkBytes));
    }
  }

  /**
   * Decodes a chunk.
   *
   * @param mask filters that the writer has left out
   * @param chunkBytes size of the decoded chunk
   */
  byte[] decode(byte[] stored, int mask, int chunkBytes, int elementBytes) {
    List<Filter> applied = applied(mask);
    byte[] chunk = stored;
    for (int i = applied.size() - 1; i >= 0; i--) {
      Filter filter = applied.get(i);
      int limit =
          (int) Math.min(ReadBudget.MAX_ARRAY_LENGTH, limit(applied.subList(0, i), chunkBytes));
      chunk =
          switch (filter.id) {
            case DEFLATE -> ChunkCodecs.inflate(chunk, limit);
            case SHUFFLE -> ChunkCodecs.unshuffle(chunk, parameter(filter, 0, elementBytes));
            case FLETCHER -> ChunkCodecs.withoutFletcher32(chunk);
            case LZF -> ChunkCodecs.lzf(chunk, limit);
            case LZ4 -> ChunkCodecs.lz4(chunk, limit);
            case ZSTD -> ChunkCodecs.zstd(chunk, limit);
            case BITSHUFFLE ->
                BitShuffle.decode(
                    chunk,
                    limit,
                    parameter(filter, 2, elementBytes),
                    parameter(filter, 3, 0),
                    parameter(filter, 4, 0));
            default ->
                throw Hdf5Exception.unsupported(
                    "filter %d (%s)"
                        .formatted(
                            filter.id, filter.name.isEmpty() ? name(filter.id) : filter.name),
                    "supported are gzip, shuffle, Fletcher32, LZF, LZ4, bitshuffle and Zstandard; write the file with one of them");
          };
    }
    return chunk;
  }

  private static String name(int id) {
    return switch (id) {
      case 4 -> "szip";
      case 5 -> "n-bit";
      case 6 -> "scale-offset";
      case 32_001 -> "blosc";
      default -> "unknown";
    };
  }

  private static int parameter(Filter filter, int index, int byDefault) {
    return index < filter.parameters.size() ? filter.parameters.get(index) : byDefault;
  }

  /** Returns the largest size of a chunk to which earlier filters can have added bytes. */
  private static long limit(List<Filter> earlier, long chunkBytes) {
    long added = chunkBytes;
    for (Filter filter : earlier) {
      added +=
          filter.isChecksum() ? Integer.BYTES : filter.id == SHUFFLE ? 0 : chunkBytes / 8 + 1024;
    }
    return added;
  }
}
