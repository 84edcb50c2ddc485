// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A warning, logged once for all jobs and attempts of a store, that its ranks occupy all slots.
 * Thread-safe.
 */
public final class SlotsWarning {
  private static final Logger LOG = LoggerFactory.getLogger(SlotsWarning.class);

  private final String owner;
  private final AtomicBoolean said = new AtomicBoolean();

  private SlotsWarning(String owner) {
    this.owner = owner;
  }

  public static SlotsWarning ofJob() {
    return new SlotsWarning("a job");
  }

  public static SlotsWarning ofStore(String name) {
    return new SlotsWarning("store \"%s\"".formatted(name));
  }

  /**
   * Logs the warning if it applies and was not logged before. Called before ranks start. Does
   * nothing while more executors are expected, because their slots stay free.
   *
   * @param conf configuration of the application
   */
  public void logIfNeeded(int ranks, ClusterFacts cluster, SparkConf conf) {
    if (cluster.isGrowing(conf)) {
      return;
    }
    RunWarnings.ofSlots(ranks, cluster.slots())
        .filter(warning -> said.compareAndSet(false, true))
        .ifPresent(warning -> LOG.warn("slots of {}: {}", owner, warning));
  }
}
