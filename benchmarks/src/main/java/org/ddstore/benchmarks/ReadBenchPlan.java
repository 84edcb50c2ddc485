// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.Serializable;
import java.util.List;
import java.util.function.Consumer;
import org.ddstore.benchmarks.driver.RankNetwork;
import org.ddstore.benchmarks.driver.RankWork;
import org.ddstore.collective.Communicator;
import org.ddstore.spark.backend.OpenTransport;

/**
 * The measurements of {@link ReadBench}.
 *
 * @param shardBytes approximate size of each rank's shard in bytes
 * @param seconds duration of each measurement in seconds
 */
record ReadBenchPlan(
    List<Integer> rowBytes,
    List<Integer> batches,
    List<Integer> inFlight,
    RankNetwork network,
    long shardBytes,
    double seconds,
    boolean replays)
    implements RankWork {
  private static final long serialVersionUID = 1L;

  @Override
  public void run(Communicator ranks, OpenTransport remote, Consumer<Serializable> results)
      throws Exception {
    try (StreamCopy stream = ranks.rank() == 0 ? new StreamCopy() : null) {
      for (int bytes : rowBytes) {
        new ReadBenchRank(this, new PatternRows(bytes), remote, stream, results).run(ranks);
      }
    }
  }

  int shardRows(int bytesPerRow) {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, shardBytes / bytesPerRow));
  }

  /** Returns the maximum size of a batch; larger batches would repeat rows of a shard. */
  long maxBatchBytes() {
    return shardBytes / 4;
  }

  boolean isMeasured(int bytesPerRow, int batch) {
    return (long) bytesPerRow * batch <= maxBatchBytes();
  }

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
