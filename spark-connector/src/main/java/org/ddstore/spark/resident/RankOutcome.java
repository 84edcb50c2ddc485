package org.ddstore.spark.resident;

import java.io.Serializable;
import java.util.List;
import org.ddstore.spark.types.ReadCount;

/**
 * The outcome of one rank of a run on a resident store, sent to the driver.
 *
 * @param result result of the user's task, may be null
 * @param executorId id of the executor that ran the rank
 * @param home whether that executor holds the rank's shard
 * @param reads reads of the store's rows, by path
 */
public record RankOutcome<T>(T result, String executorId, boolean home, List<ReadCount> reads)
    implements Serializable {
  private static final long serialVersionUID = 1L;
}
