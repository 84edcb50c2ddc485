package org.ddstore.spark;

import java.io.Serializable;

/**
 * What every rank runs beside its shard. It is sent to the executors, so it and what it captures
 * must be serializable.
 *
 * @param <T> the result, serializable
 */
@FunctionalInterface
public interface RankTask<T> extends Serializable {
  /**
   * Runs on one rank. Another attempt may run it again after a failure: at least once across
   * attempts, see {@link RankContext#attempt()}.
   *
   * @throws Exception ends the attempt on all ranks
   */
  T run(RankContext context) throws Exception;
}
