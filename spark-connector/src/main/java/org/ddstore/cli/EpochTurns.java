package org.ddstore.cli;

import java.io.Serializable;
import org.ddstore.sampling.EpochBatches;

/**
 * The order of an epoch with the ranks one behind the other: the rows of the batches of rank 0,
 * then those of rank 1, and so on. Fast for turns that follow each other. One thread at a time.
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

  /** The row of a turn of [0, {@link EpochPlan#epochRows()}). */
  synchronized long row(long turn) {
    long ofRank = plan.steps() * plan.batch();
    int itsRank = (int) (turn / ofRank);
    long itsNumber = turn % ofRank / plan.batch();
    if (batches == null || rank != itsRank) {
      batches = plan.batches().epoch(plan.rows(), plan.place(itsRank), epoch);
      rank = itsRank;
      rows = null;
    }
    if (rows == null || number != itsNumber) {
      rows = new long[plan.batch()];
      batches.fill(itsNumber, rows);
      number = itsNumber;
    }
    return rows[(int) (turn % plan.batch())];
  }
}
