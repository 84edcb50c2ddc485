package org.ddstore.spark.cluster;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SchedulerBackend;
import org.apache.spark.scheduler.TaskSchedulerImpl;

/**
 * Which executors take tasks, are being decommissioned, or are gone, as Spark's scheduler knows it
 * now: the end of their connection counts, some seconds before a listener hears that they are
 * removed. Ids never come back, so who is gone stays gone.
 */
public final class LiveExecutors {
  private static final String LOCAL = "driver";

  private LiveExecutors() {}

  /** Returns those of some executors, which have been there, that are gone. Local. */
  public static Set<String> gone(SparkContext context, Collection<String> executors) {
    Set<String> gone = new TreeSet<>();
    for (String id : executors) {
      if (!serves(context, id)) {
        gone.add(id);
      }
    }
    return gone;
  }

  /**
   * Returns those of some executors that are being decommissioned: they serve rows until they end,
   * and get no more tasks. Local.
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

  /** Whether an executor that has registered takes tasks. */
  public static boolean takesTasks(SparkContext context, String executorId) {
    if (context.isLocal()) {
      return executorId.equals(LOCAL);
    }
    SchedulerBackend backend = context.schedulerBackend();
    return backend instanceof ExecutorAllocationClient client
        ? client.isExecutorActive(executorId)
        : true; // a cluster manager that does not say so; its events do
  }

  /** Whether an executor that has registered still serves what it holds. */
  public static boolean serves(SparkContext context, String executorId) {
    return takesTasks(context, executorId) || isDecommissioned(context, executorId);
  }

  /** Whether an executor gets no more tasks because it is to end, and has not ended. */
  private static boolean isDecommissioned(SparkContext context, String executorId) {
    return context.taskScheduler() instanceof TaskSchedulerImpl scheduler
        && scheduler.isExecutorDecommissioned(executorId)
        && context.schedulerBackend() instanceof ExecutorAllocationClient client
        && client.getExecutorIds().contains(executorId);
  }
}
