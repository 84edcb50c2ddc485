package org.ddstore.spark;

import java.io.Serializable;
import java.util.List;

/**
 * What a rank of a resident store sends to the driver.
 *
 * @param result what the user's task returned; may be null
 * @param home whether it ran where its shard is
 * @param reads what it read of the store, by path
 */
record RankOutcome<T>(T result, boolean home, List<ReadCount> reads) implements Serializable {
  private static final long serialVersionUID = 1L;
}
