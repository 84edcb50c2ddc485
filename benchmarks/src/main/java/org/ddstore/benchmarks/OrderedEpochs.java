// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

/** A reader of batches whose rows are known before the measured time begins. */
abstract class OrderedEpochs implements EpochReader {
  private final EpochPlan plan;
  private final int rank;
  private final EpochWay way;
  private long[][] order;

  OrderedEpochs(EpochPlan plan, int rank, EpochWay way) {
    this.plan = plan;
    this.rank = rank;
    this.way = way;
  }

  @Override
  public final EpochWay way() {
    return way;
  }

  @Override
  public final void prepare(long epoch) {
    order = plan.order(rank, epoch);
  }

  /** Returns the rows of each batch of the prepared epoch. */
  final long[][] order() {
    return order;
  }
}
