// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.ddstore.spark.task.Versioned;
import org.ddstore.spark.types.ResidentShard;

/**
 * A splitter of the rows of a scan into tasks: along shards, so that a task reads from one
 * executor; small enough that all cores have work; large enough that task starts do not dominate.
 * Looked-up rows of different shards are combined into few tasks.
 */
final class ScanSplits {
  /** Minimum size of a task in bytes; less is not worth a separate task. */
  static final long MIN_BYTES = 4L << 20;

  /** Maximum size of a task in bytes; more makes a retry expensive. */
  static final long MAX_BYTES = 256L << 20;

  private final double bytesPerRow;
  private final int cores;
  private final List<RowsPartition> done = new ArrayList<>();
  private RowRanges open = RowRanges.NONE;
  private List<String> openHolders = List.of();
  private long maxRows;

  /**
   * @param bytesPerRow mean size of a record in bytes
   * @param cores approximate number of tasks that can run concurrently
   */
  ScanSplits(double bytesPerRow, int cores) {
    this.bytesPerRow = bytesPerRow;
    this.cores = cores;
  }

  /** Returns the tasks that read {@code rows}, in row order. */
  InputPartition[] of(RowRanges rows, List<ResidentShard> shards) {
    long pieceBytes =
        Math.max(MIN_BYTES, Math.min(MAX_BYTES, (long) (bytesPerRow * rows.rows() / cores)));
    for (List<ResidentShard> copies : LostRows.byFirstRow(shards).values()) {
      ResidentShard shard = copies.get(0);
      RowRanges here = rows.within(shard.firstRow(), shard.firstRow() + shard.rows());
      long count = here.rows();
      long pieces = Math.max(1, Math.round(count * bytesPerRow / pieceBytes));
      for (long piece = 0; piece < pieces; piece++) {
        long from = count * piece / pieces;
        add(here.skip(from).first(count * (piece + 1) / pieces - from), holders(copies));
      }
    }
    flush();
    return done.toArray(new InputPartition[0]);
  }

  private static List<String> holders(List<ResidentShard> copies) {
    return copies.stream()
        .filter(copy -> !copy.isLost())
        .map(ResidentShard::preferredLocation)
        .distinct()
        .toList();
  }

  private void add(RowRanges rows, List<String> holders) {
    long count = rows.rows();
    if (count == 0) {
      return;
    }
    if ((open.rows() + count) * bytesPerRow > MIN_BYTES) {
      flush();
    }
    open = open.or(rows);
    if (count > maxRows) {
      maxRows = count;
      openHolders = holders;
    }
  }

  private void flush() {
    if (open.size() > 0) {
      done.add(new RowsPartition(Versioned.of(open), openHolders));
    }
    open = RowRanges.NONE;
    maxRows = 0;
  }
}
