// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.ddstore.spark.backend.SharedLoss;

/** A job's view of the resident stores of its application. Used on the driver. Thread-safe. */
public interface ResidentView {
  Map<String, Long> memoryBytes();

  /**
   * Describes the rows that would be lost with executors, in one sentence per affected store.
   *
   * @param executors ids of executors that are about to end
   */
  List<String> lossWith(Set<String> executors);

  /** Warns of stores that would lose all copies of a shard with executors that end together. */
  void warnOf(SharedLoss loss);
}
