package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.util.List;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.types.SourceChangedException;

/**
 * Checks that a sort has kept its rows: each position of [0, rows) comes out of it exactly once.
 * Compares a count and a 128-bit hash sum of the positions, keyed at random, which do not depend on
 * the order; counts and plain sums would miss rows that are lost and made up for by others. Each
 * task adds the positions of its partition and takes off its share of those that are expected, so
 * that all together give zero. Sent to the executors.
 */
final class SortCheck implements Serializable {
  private static final long serialVersionUID = 1L;

  private final long rows;
  private final long highKey;
  private final long lowKey;

  /**
   * @param rows before the sort
   */
  SortCheck(long rows) {
    Nonce key = Nonce.random();
    this.rows = rows;
    this.highKey = key.high();
    this.lowKey = key.low();
  }

  /**
   * Counts the rows of a sorted partition.
   *
   * @param ordinal the field that has a row's position
   * @param partition of [0, {@code partitions})
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
          "the sort of %,d rows gave %,d rows, and not each of them once: some were computed again, after the loss of an executor for example, and differ; plan the load again"
              .formatted(rows, found));
    }
  }
}
