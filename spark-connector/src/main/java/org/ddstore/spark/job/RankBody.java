// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.io.Serializable;

/** The work of a rank after all ranks are connected; sent to the executors. */
@FunctionalInterface
public interface RankBody<T> extends Serializable {
  /**
   * Runs on one rank. Collective. An implementation that fails must call {@code abort} before it
   * closes memory that other ranks read.
   */
  T run(StartedRank rank) throws Exception;
}
