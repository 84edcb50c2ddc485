// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.Serializable;
import org.ddstore.sampling.EpochBatches;

/**
 * The row order of an epoch, concatenated over ranks: the rows of the batches of rank 0, then those
 * of rank 1, and so on. Fast for consecutive turns. Thread-safe.
 */
final class EpochTurns implements Serializable {
  private static final long serialVersionUID = 1L;

  private final EpochPlan plan;
  private final long epoch;
  private transient int rank;
  private transient long number;
  private transient EpochBatches batches;
  private transient long[] rows;

  EpochTurns(EpochPlan plan, long epoch) {
    this.plan = plan;
    this.epoch = epoch;
  }

  /** Returns the row of a turn in [0, {@link EpochPlan#epochRows()}). */
  synchronized long row(long turn) {
    long turnsPerRank = plan.steps() * plan.batch();
    int turnRank = (int) (turn / turnsPerRank);
    long batchNumber = turn % turnsPerRank / plan.batch();
    if (batches == null || rank != turnRank) {
      batches = plan.batches().epoch(plan.rows(), plan.place(turnRank), epoch);
      rank = turnRank;
      rows = null;
    }
    if (rows == null || number != batchNumber) {
      rows = new long[plan.batch()];
      batches.fill(batchNumber, rows);
      number = batchNumber;
    }
    return rows[(int) (turn % plan.batch())];
  }
}
