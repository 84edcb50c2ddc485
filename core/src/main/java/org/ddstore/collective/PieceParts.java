// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.util.Arrays;
import org.ddstore.layout.ExtentMap;

/**
 * The parts of a piece by reader: first common bytes that all ranks read, then elements that are
 * distributed over the ranks in balanced runs. A process that receives the piece by message is sent
 * only the bytes that its ranks read.
 *
 * @param commonBytes bytes for all ranks
 * @param elements number of elements distributed over the ranks
 */
record PieceParts(int commonBytes, int elements, int elementBytes, int ranks) {
  /** Returns the parts of a piece that all ranks read. */
  static PieceParts common(int bytes) {
    return new PieceParts(bytes, 0, 1, 1);
  }

  /** Returns the first of {@code elements} elements that is assigned to a rank. */
  static int firstElement(int elements, int rank, int ranks) {
    return (int) ExtentMap.balancedStart(elements, rank, ranks);
  }

  int usedBytes() {
    return commonBytes + elements * elementBytes;
  }

  /** Returns whether ranks read different parts. */
  boolean isDealtOut() {
    return elements > 0;
  }

  /** Returns the bytes that readers need, as pairs of first byte and end, ascending, disjoint. */
  int[] ranges(int[] readers) {
    int[] ranges = new int[2 + 2 * readers.length];
    int last = 0;
    ranges[1] = commonBytes;
    for (int rank : isDealtOut() ? readers : new int[0]) {
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
