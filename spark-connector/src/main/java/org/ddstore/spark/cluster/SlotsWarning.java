package org.ddstore.spark.cluster;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the log that ranks take all slots: once, in whatever jobs and attempts they run. Any
 * thread.
 */
public final class SlotsWarning {
  private static final Logger LOG = LoggerFactory.getLogger(SlotsWarning.class);

  private final String prefix;
  private final AtomicBoolean said = new AtomicBoolean();

  private SlotsWarning(String prefix) {
    this.prefix = prefix;
  }

  /** Of a store that ends with its job. */
  public static SlotsWarning ofJob() {
    return new SlotsWarning("");
  }

  /** Of all jobs of a resident store. */
  public static SlotsWarning ofStore(String name) {
    return new SlotsWarning("\"%s\": ".formatted(name));
  }

  /**
   * Before ranks start. Says nothing yet where executors are still to come: their slots stay free.
   *
   * @param conf of the application
   */
  public void look(int ranks, ClusterFacts cluster, SparkConf conf) {
    if (cluster.isGrowing(conf)) {
      return;
    }
    RunWarnings.ofSlots(ranks, cluster.slots())
        .filter(warning -> said.compareAndSet(false, true))
        .ifPresent(warning -> LOG.warn("{}{}", prefix, warning));
  }
}
