// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.Serializable;

/**
 * A task that every rank runs beside its shard. It is sent to the executors, so the task and the
 * objects that it captures must be serializable.
 *
 * @param <T> type of the result, serializable by Java whatever {@code spark.serializer} is
 */
@FunctionalInterface
public interface RankTask<T> extends Serializable {
  /**
   * Runs on one rank. After a failure, another attempt may run it again, see {@link
   * RankContext#attempt()}: the task runs at least once.
   *
   * @param context rank, its store and its group
   * @return the result of this rank; serializable, or null
   * @throws Exception to end the attempt on all ranks
   */
  T run(RankContext context) throws Exception;
}
