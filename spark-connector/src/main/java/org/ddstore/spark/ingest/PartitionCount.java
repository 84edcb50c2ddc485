package org.ddstore.spark.ingest;

import java.io.Serializable;

/**
 * The report of a task about a partition that it has stored.
 *
 * @param rows number of rows of the partition
 * @param computation computation number of its chunks
 * @param high high half of the hash sum of {@link SortCheck}; 0 without a check
 * @param low low half of the hash sum
 */
record PartitionCount(long rows, long computation, long high, long low) implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Counts the rows of a reader without reading them. */
  static PartitionCount of(RowChunks.Reader reader) {
    long rows = reader.skip(Slice.ALL);
    return new PartitionCount(rows, reader.computation(), 0, 0);
  }
}
