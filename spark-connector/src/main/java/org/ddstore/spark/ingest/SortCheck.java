// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.List;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.ingest.SortedRows.Positions;
import org.ddstore.spark.ingest.StoredRows.PartitionCount;
import org.ddstore.spark.types.SourceChangedException;

/**
 * A check that a sort has kept its rows: its output contains each position of [0, rows) exactly
 * once. Compares the count and a randomly keyed 128-bit hash sum of the positions, both independent
 * of the order; counts and plain sums would miss a lost row offset by another. Each task adds the
 * hashes of its partition and subtracts its share of the expected ones, so that the total is zero.
 * Sent to the executors.
 */
final class SortCheck implements Serializable {
  private static final long serialVersionUID = 1L;

  private final long rows;
  private final long highKey;
  private final long lowKey;

  SortCheck(long rows) {
    Nonce key = Nonce.random();
    this.rows = rows;
    this.highKey = key.high();
    this.lowKey = key.low();
  }

  /**
   * Counts the rows of a sorted partition.
   *
   * @param ordinal ordinal of the field with the position of a row
   * @param partition index of the partition, in [0, {@code partitions})
   */
  PartitionCount count(RowChunks.Reader reader, int ordinal, int partition, int partitions) {
    long counted = 0;
    long high = 0;
    long low = 0;
    for (; reader.hasNext(); counted++) {
      long position = reader.next().getLong(ordinal);
      high += Positions.draw(highKey, position);
      low += Positions.draw(lowKey, position);
    }
    long end = ExtentMap.balancedStart(rows, partition + 1, partitions);
    for (long p = ExtentMap.balancedStart(rows, partition, partitions); p < end; p++) {
      high -= Positions.draw(highKey, p);
      low -= Positions.draw(lowKey, p);
    }
    return new PartitionCount(counted, reader.computation(), high, low);
  }

  /**
   * @throws SourceChangedException if rows were lost or duplicated
   */
  void verify(List<PartitionCount> sorted) {
    long found = sorted.stream().mapToLong(PartitionCount::rows).sum();
    long high = sorted.stream().mapToLong(PartitionCount::high).sum();
    long low = sorted.stream().mapToLong(PartitionCount::low).sum();
    if (found != rows || high != 0 || low != 0) {
      throw new SourceChangedException(
          "the sort of %,d rows returned %,d rows with lost or repeated ones: rows recomputed, for example after the loss of an executor, differ; plan the load again"
              .formatted(rows, found));
    }
  }
}
