package org.ddstore.spark.ingest;

import java.io.Serializable;

/**
 * What a task reports of a partition that it has stored.
 *
 * @param rows of it
 * @param computation of its chunks
 * @param high half of a hash sum, by {@link SortCheck}; 0 without one
 * @param low the other half
 */
record PartitionCount(long rows, long computation, long high, long low) implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Counts the rows of a reader without looking at them. */
  static PartitionCount of(RowChunks.Reader reader) {
    long rows = reader.skip(Slice.ALL);
    return new PartitionCount(rows, reader.computation(), 0, 0);
  }
}
