package org.ddstore.collective;

import java.util.Arrays;
import org.ddstore.layout.ExtentMap;

/**
 * Which bytes of a piece who reads: first some that all ranks read, then elements that are dealt
 * out to the ranks in balanced runs. A process that gets the piece by message is sent no others.
 *
 * @param commonBytes for all ranks
 * @param elements dealt out to the ranks
 */
record PieceParts(int commonBytes, int elements, int elementBytes, int ranks) {
  /** A piece that all ranks read. */
  static PieceParts common(int bytes) {
    return new PieceParts(bytes, 0, 1, 1);
  }

  /** The first of {@code elements} that rank {@code rank} of {@code ranks} is dealt. */
  static int firstElement(int elements, int rank, int ranks) {
    return (int) ExtentMap.balancedStart(elements, rank, ranks);
  }

  int usedBytes() {
    return commonBytes + elements * elementBytes;
  }

  /** True if not all ranks read the same. */
  boolean isDealtOut() {
    return elements > 0;
  }

  /**
   * What some ranks need together, as pairs of first byte and end, ascending and disjoint.
   *
   * @param ofRanks ascending
   */
  int[] ranges(int[] ofRanks) {
    int[] ranges = new int[2 + 2 * ofRanks.length];
    int last = 0;
    ranges[1] = commonBytes;
    for (int rank : isDealtOut() ? ofRanks : new int[0]) {
      int from = commonBytes + firstElement(elements, rank, ranks) * elementBytes;
      int end = commonBytes + firstElement(elements, rank + 1, ranks) * elementBytes;
      if (from > ranges[last + 1]) {
        last += 2;
        ranges[last] = from;
      }
      ranges[last + 1] = end;
    }
    return Arrays.copyOf(ranges, last + 2);
  }
}
