package org.ddstore.spark.source;

import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * The rows that one task of a scan reads.
 *
 * @param holders the executors that have most of them, as Spark's scheduler calls them
 */
record RowsPartition(RowRanges rows, List<String> holders) implements InputPartition {
  private static final long serialVersionUID = 1L;

  @Override
  public String[] preferredLocations() {
    return holders.toArray(new String[0]);
  }
}
