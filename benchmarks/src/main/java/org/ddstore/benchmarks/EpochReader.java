// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalLong;

/** A reader of one rank's batches of an epoch in one of several ways. Used by one thread. */
interface EpochReader extends AutoCloseable {
  /** A consumer of batches. */
  interface Consumer {
    /**
     * Takes a batch, which is valid only during the call.
     *
     * @param number number of the batch in the epoch, from 0
     * @param rows rows of the batch, back to back from position 0
     */
    void take(int number, ByteBuffer rows);
  }

  /** Returns the way in which this reads. */
  EpochWay way();

  /** Computes the rows of the epoch's batches, unless that is part of the measurement. */
  void prepare(long epoch);

  /** Reads the prepared epoch batch by batch. */
  void read(Consumer consumer) throws IOException;

  /** Returns whether each row of the last epoch was delivered exactly once; true if unknown. */
  default boolean isExact() {
    return true;
  }

  /** Returns the total time spent waiting for batches, in nanoseconds, if it is counted. */
  default OptionalLong waitedNanos() {
    return OptionalLong.empty();
  }

  @Override
  void close() throws IOException;
}
