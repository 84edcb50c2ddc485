// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalLong;

/** A reader of one rank's batches of an epoch in one of several ways. Used by one thread. */
abstract class EpochReader implements AutoCloseable {
  final EpochPlan plan;
  final int rank;
  final EpochWay way;

  /** Rows of each batch of the prepared epoch. */
  long[][] order;

  interface Consumer {
    /**
     * Takes a batch, which is valid only during the call.
     *
     * @param number number of the batch in the epoch, from 0
     * @param rows rows of the batch, back to back from position 0
     */
    void take(int number, ByteBuffer rows);
  }

  EpochReader(EpochPlan plan, int rank, EpochWay way) {
    this.plan = plan;
    this.rank = rank;
    this.way = way;
  }

  /** Computes the rows of the epoch's batches, unless that is part of the measurement. */
  void prepare(long epoch) {
    order = plan.order(rank, epoch);
  }

  abstract void read(Consumer consumer) throws IOException;

  /** Returns whether each row of the last epoch was delivered exactly once; true if unknown. */
  boolean isExact() {
    return true;
  }

  /** Returns the total time spent waiting for batches, in nanoseconds, if it is counted. */
  OptionalLong waitedNanos() {
    return OptionalLong.empty();
  }

  @Override
  public abstract void close() throws IOException;
}
