// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;

/** Hashes of the rows of a data set, or of a sample of them, as computed from Spark SQL. */
final class ExpectedRows {
  private final long rows;

  /** Global indices of the known rows, ascending; empty if all rows are known. */
  private final long[] indices;

  /** Hashes of the known rows, back to back. */
  private final byte[] hashes;

  /**
   * @param rows number of rows of the data set
   * @param indices global indices of the known rows, ascending; empty if all are known
   * @param hashes one hash of {@link RowHash#BYTES} bytes per known row
   */
  ExpectedRows(long rows, long[] indices, List<byte[]> hashes) {
    this(rows, indices, new byte[hashes.size() * RowHash.BYTES]);
    for (int i = 0; i < hashes.size(); i++) {
      System.arraycopy(hashes.get(i), 0, this.hashes, i * RowHash.BYTES, RowHash.BYTES);
    }
  }

  private ExpectedRows(long rows, long[] indices, byte[] hashes) {
    this.rows = rows;
    this.indices = indices;
    this.hashes = hashes;
  }

  /** The rows as broadcasts of arrays, which every serializer of Spark accepts. */
  record Sent(long rows, Broadcast<long[]> indices, Broadcast<byte[]> hashes)
      implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Returns the rows, whose arrays all tasks of a process share. */
    ExpectedRows value() {
      return new ExpectedRows(rows, indices.value(), hashes.value());
    }

    void destroy() {
      indices.destroy();
      hashes.destroy();
    }
  }

  /** Sends the rows by the active Spark application. */
  Sent send() {
    JavaSparkContext context =
        JavaSparkContext.fromSparkContext(SparkSession.active().sparkContext());
    return new Sent(rows, context.broadcast(indices), context.broadcast(hashes));
  }

  long rows() {
    return rows;
  }

  int size() {
    return hashes.length / RowHash.BYTES;
  }

  /** Returns the global index of a known row, given its number in [0, {@link #size()}). */
  long index(int number) {
    return indices.length == 0 ? number : indices[number];
  }

  boolean matches(int number, byte[] hash) {
    int start = number * RowHash.BYTES;
    return Arrays.equals(hashes, start, start + RowHash.BYTES, hash, 0, RowHash.BYTES);
  }
}
