package org.ddstore.spark.job;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a job must know of the resident stores of its application. Any thread of the driver. */
public interface ResidentView {
  /** Bytes of memory that all stores take, by executor. */
  Map<String, Long> memoryBytes();

  /**
   * Describes what the stores lose with executors, a sentence for each store that loses something.
   *
   * @param executors that are about to be ended
   */
  List<String> lossWith(Set<String> executors);

  /**
   * Warns of stores that would lose all copies of a shard if an MPI world lost a member.
   *
   * @param world executors of the world
   */
  void warnOfWorld(Set<String> world);
}
