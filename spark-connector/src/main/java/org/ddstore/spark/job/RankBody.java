package org.ddstore.spark.job;

import java.io.Serializable;

/** What a rank does once all ranks know each other; sent to the executors. */
@FunctionalInterface
public interface RankBody<T> extends Serializable {
  /** Collective. Whoever throws has called {@code abort} before it closes what others read. */
  T run(StartedRank rank) throws Exception;
}
