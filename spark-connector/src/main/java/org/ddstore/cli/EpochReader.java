package org.ddstore.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalLong;

/** Gives one rank its batches of an epoch, in one of several ways. Used by one thread. */
interface EpochReader extends AutoCloseable {
  /** What takes the batches. */
  interface Consumer {
    /**
     * Takes a batch, which is gone when this returns.
     *
     * @param number in the epoch
     * @param rows back to back from position 0 on
     */
    void take(int number, ByteBuffer rows);
  }

  /** Which way it is. */
  EpochWay way();

  /** Finds out what is in the epoch's batches, if that is not part of what is measured. */
  void prepare(long epoch);

  /** Reads the epoch that was prepared, one batch after the other. */
  void read(Consumer consumer) throws IOException;

  /** Whether all rows of the last epoch came once over all ranks, where that is known. */
  default boolean isExact() {
    return true;
  }

  /** How long all batches so far were waited for, where that is counted. */
  default OptionalLong waitedNanos() {
    return OptionalLong.empty();
  }

  @Override
  void close() throws IOException;
}
