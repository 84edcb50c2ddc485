package org.ddstore.cli;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;

/** What Spark SQL says of the rows of a data set, or of some of them. */
final class ExpectedRows implements Serializable {
  private static final long serialVersionUID = 1L;

  private final long rows;

  /** Ascending; null if all rows are known. */
  private final long[] indices;

  /** One after the other. */
  private final byte[] hashes;

  /**
   * @param rows of the whole data set
   * @param indices of the rows known, ascending; null if all are
   * @param hashes one for each of them, of {@link RowHash#BYTES} bytes
   */
  ExpectedRows(long rows, long[] indices, List<byte[]> hashes) {
    this.rows = rows;
    this.indices = indices;
    this.hashes = new byte[hashes.size() * RowHash.BYTES];
    for (int i = 0; i < hashes.size(); i++) {
      System.arraycopy(hashes.get(i), 0, this.hashes, i * RowHash.BYTES, RowHash.BYTES);
    }
  }

  /** Of the whole data set. */
  long rows() {
    return rows;
  }

  /** How many rows are known. */
  int size() {
    return hashes.length / RowHash.BYTES;
  }

  /** The global index of a known row, by its number of [0, {@link #size()}). */
  long index(int number) {
    return indices == null ? number : indices[number];
  }

  /** Whether {@code hash} is that of the row. */
  boolean matches(int number, byte[] hash) {
    int start = number * RowHash.BYTES;
    return Arrays.equals(hashes, start, start + RowHash.BYTES, hash, 0, RowHash.BYTES);
  }
}
