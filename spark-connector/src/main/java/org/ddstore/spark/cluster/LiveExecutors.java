// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SchedulerBackend;
import org.apache.spark.scheduler.TaskSchedulerImpl;

/**
 * The current state of executors in Spark's scheduler: active, being decommissioned, or gone. An
 * executor is gone when its connection ends, some seconds before listeners receive its removal.
 * Spark never reuses an id, so a gone executor stays gone.
 */
public final class LiveExecutors {
  private static final String LOCAL = "driver";

  private LiveExecutors() {}

  /** Returns the executors of a collection, all once registered, that are gone. Local. */
  public static Set<String> ended(SparkContext context, Collection<String> executors) {
    Set<String> gone = new TreeSet<>();
    for (String id : executors) {
      if (!serves(context, id)) {
        gone.add(id);
      }
    }
    return gone;
  }

  /**
   * Returns the executors of a collection that are being decommissioned: they serve rows until they
   * end and get no more tasks. Local.
   */
  public static Set<String> leaving(SparkContext context, Collection<String> executors) {
    Set<String> leaving = new TreeSet<>();
    for (String id : executors) {
      if (!takesTasks(context, id) && serves(context, id)) {
        leaving.add(id);
      }
    }
    return leaving;
  }

  public static boolean takesTasks(SparkContext context, String executorId) {
    if (context.isLocal()) {
      return executorId.equals(LOCAL);
    }
    SchedulerBackend backend = context.schedulerBackend();
    return backend instanceof ExecutorAllocationClient client
        ? client.isExecutorActive(executorId)
        : true; // this cluster manager reports losses by events only
  }

  /** Returns whether a once registered executor still serves its rows. */
  public static boolean serves(SparkContext context, String executorId) {
    return takesTasks(context, executorId) || isDecommissioned(context, executorId);
  }

  /** Returns whether an executor gets no more tasks because it is about to end, but still runs. */
  private static boolean isDecommissioned(SparkContext context, String executorId) {
    return context.taskScheduler() instanceof TaskSchedulerImpl scheduler
        && scheduler.isExecutorDecommissioned(executorId)
        && context.schedulerBackend() instanceof ExecutorAllocationClient client
        && client.getExecutorIds().contains(executorId);
  }
}
