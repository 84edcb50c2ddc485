package org.ddstore.spark;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SchedulerBackend;

/**
 * Which executors still take tasks, as Spark's scheduler knows it now: the end of their connection
 * counts, some seconds before a listener hears that they are removed. Ids never come back, so who
 * is gone stays gone.
 */
final class LiveExecutors {
  private static final String LOCAL = "driver";

  private LiveExecutors() {}

  /** Those of some executors, which have been there, that are gone. Local. */
  static Set<String> gone(SparkContext context, Collection<String> executors) {
    Set<String> gone = new TreeSet<>();
    for (String id : executors) {
      if (!isLive(context, id)) {
        gone.add(id);
      }
    }
    return gone;
  }

  /** Whether an executor that has registered takes tasks. */
  static boolean isLive(SparkContext context, String executorId) {
    if (context.isLocal()) {
      return executorId.equals(LOCAL);
    }
    SchedulerBackend backend = context.schedulerBackend();
    return backend instanceof ExecutorAllocationClient client
        ? client.isExecutorActive(executorId)
        : true; // a cluster manager that does not say so; its events do
  }
}
