package org.ddstore.cli;

import java.io.Serializable;
import java.util.List;

/**
 * What {@link ReadBench} is to measure; sent to the ranks.
 *
 * @param shardBytes of each rank, about
 * @param seconds of each measurement
 */
record ReadBenchPlan(
    List<Integer> rowBytes,
    List<Integer> batches,
    List<Integer> inFlight,
    RankNetwork network,
    long shardBytes,
    double seconds)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Rows of one rank. */
  int shardRows(int ofBytes) {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, shardBytes / ofBytes));
  }

  /** A batch of more holds so much of a shard that its rows repeat. */
  long maxBatchBytes() {
    return shardBytes / 4;
  }

  boolean isMeasured(int ofBytes, int batch) {
    return (long) ofBytes * batch <= maxBatchBytes();
  }

  /** How many measurements there are for one path. */
  int measurements() {
    int count = 0;
    for (int bytes : rowBytes) {
      for (int batch : batches) {
        count += isMeasured(bytes, batch) ? inFlight.size() : 0;
      }
    }
    return count;
  }
}
