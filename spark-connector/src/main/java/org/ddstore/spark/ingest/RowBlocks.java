// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.jdk.javaapi.CollectionConverters;

/** Rows of a partition that can be taken one by one, or as parts of batches. */
public interface RowBlocks extends Iterator<InternalRow> {
  /**
   * Takes the next rows that are in one batch; there is at least one.
   *
   * @return the rows, valid until further ones are taken; null if the source has no batches
   */
  Block nextBlock();

  /**
   * Consecutive rows of a batch.
   *
   * @param rows number of rows, at least 1
   */
  record Block(ColumnarBatch batch, int from, int rows) {}

  /** Returns rows for Java; if they can be taken in blocks, as such. */
  @SuppressWarnings("unchecked") // rows that are blocks, too, are of the same type
  static Iterator<InternalRow> asJava(scala.collection.Iterator<InternalRow> rows) {
    return rows instanceof RowBlocks blocks ? blocks : CollectionConverters.asJava(rows);
  }
}
