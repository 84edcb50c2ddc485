package org.ddstore.cli;

import java.io.Serializable;
import java.util.Arrays;

/**
 * What Spark SQL says of some rows, or of all.
 *
 * @param rows of the whole data set
 * @param indices of the rows known here, ascending; null if all are
 * @param hashes one after the other, {@link RowHash#BYTES} each
 */
record ExpectedRows(long rows, long[] indices, byte[] hashes) implements Serializable {
  /** How many rows are known here. */
  int size() {
    return hashes.length / RowHash.BYTES;
  }

  /** The global index of a row, by its number of [0, {@link #size()}). */
  long index(int number) {
    return indices == null ? number : indices[number];
  }

  /** Whether {@code hash} is that of the row. */
  boolean matches(int number, byte[] hash) {
    int start = number * RowHash.BYTES;
    return Arrays.equals(hashes, start, start + RowHash.BYTES, hash, 0, RowHash.BYTES);
  }
}
