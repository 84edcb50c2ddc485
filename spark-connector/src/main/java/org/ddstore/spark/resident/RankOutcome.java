package org.ddstore.spark.resident;

import java.io.Serializable;
import java.util.List;
import org.ddstore.spark.types.ReadCount;

/**
 * What a rank of a resident store sends to the driver.
 *
 * @param result what the user's task returned; may be null
 * @param executorId where it ran
 * @param home whether its shard is there
 * @param reads what it read of the store, by path
 */
public record RankOutcome<T>(T result, String executorId, boolean home, List<ReadCount> reads)
    implements Serializable {
  private static final long serialVersionUID = 1L;
}
