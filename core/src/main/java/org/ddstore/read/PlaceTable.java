package org.ddstore.read;

import java.util.Arrays;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.Segment;

/**
 * The table of the places of fixed records, for a {@link GatherKernel} that resolves indices
 * itself. Only for placements that lie completely in local memory and do not exceed the limits on
 * extents and chunks.
 *
 * <pre>
 *   extents | chunks | record bytes | rows           (4 longs)
 *   first row | rows | log2 of a chunk's rows | number of the first chunk   (for each extent)
 *   address                                          (of each chunk)
 * </pre>
 */
final class PlaceTable {
  /** Largest number of extents; {@code jni_gather.c} has room for 64. */
  static final int MAX_EXTENTS = 64;

  private static final int MAX_CHUNKS = 256;
  private static final int HEAD_LONGS = 4;
  private static final int EXTENT_LONGS = 4;

  private PlaceTable() {}

  /** Returns the table; null if the placement does not qualify for one. */
  static long[] of(ExtentMap extents, Segment... segments) {
    int count = extents.extents();
    if (extents.rows() == 0
        || count > MAX_EXTENTS
        || !Arrays.stream(segments).allMatch(segment -> isFixed(segment))) {
      return null;
    }
    int chunks = Arrays.stream(segments).mapToInt(Segment::chunks).sum();
    if (chunks > MAX_CHUNKS) {
      return null;
    }
    long[] table = new long[HEAD_LONGS + EXTENT_LONGS * count + chunks];
    table[0] = count;
    table[1] = chunks;
    table[2] = segments[0].recordBytes(0);
    table[3] = extents.rows();
    int chunk = 0;
    for (int e = 0; e < count; e++) {
      if (extents.rows(e) > segments[e].rows()) {
        return null; // the row-by-row path detects and reports a missing row
      }
      int at = HEAD_LONGS + EXTENT_LONGS * e;
      table[at] = extents.firstRow(e);
      table[at + 1] = extents.rows(e);
      table[at + 2] = segments[e].rowShift();
      table[at + 3] = chunk;
      for (int c = 0; c < segments[e].chunks(); c++) {
        table[HEAD_LONGS + EXTENT_LONGS * count + chunk++] = segments[e].chunkAddress(c);
      }
    }
    return table;
  }

  private static boolean isFixed(Segment segment) {
    return segment != null && segment.schema().isFixed();
  }
}
