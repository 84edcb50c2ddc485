// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.ddstore.spark.task.Versioned;

/**
 * The rows that one task of a scan reads.
 *
 * @param content the rows
 * @param holders executors that hold most of the rows, as locations of Spark's scheduler
 */
record RowsPartition(Versioned<RowRanges> content, List<String> holders) implements InputPartition {
  private static final long serialVersionUID = 1L;

  RowRanges rows() {
    return content.value();
  }

  @Override
  public String[] preferredLocations() {
    return holders.toArray(new String[0]);
  }
}
