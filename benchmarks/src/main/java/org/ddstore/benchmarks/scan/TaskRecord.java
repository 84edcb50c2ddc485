// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scan;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerBlockUpdated;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.storage.BlockUpdatedInfo;
import org.ddstore.types.DDStoreException;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A record of the executors that put blocks into Spark's cache, and of the executors and reads of
 * tasks. Thread-safe.
 */
final class TaskRecord extends SparkListener implements AutoCloseable {
  /** Metrics of a scan of a store. */
  private static final String ROWS = "rows read from shards";

  private static final String ROWS_OVER_NETWORK = "rows read over the network";

  private static final long LISTENER_TIMEOUT_MS = 60_000;

  private final SparkContext context;
  private final Set<String> blocks = ConcurrentHashMap.newKeySet();
  private final Set<String> blockExecutors = ConcurrentHashMap.newKeySet();
  private volatile Tasks tasks = Tasks.NONE;

  /**
   * The tasks since the start or since {@link #forgetTasks}.
   *
   * @param executors ids of the executors of all tasks
   * @param count number of tasks that have succeeded
   * @param rows number of rows that they have read from stores
   * @param rowsOverNetwork number of these rows that came over a transport
   * @param blockReads number of tasks that have read a block from the cache of some executor
   */
  record Tasks(
      Set<String> executors, long count, long rows, long rowsOverNetwork, long blockReads) {
    private static final Tasks NONE = new Tasks(Set.of(), 0, 0, 0, 0);

    private Tasks plus(SparkListenerTaskEnd end) {
      Set<String> all = new TreeSet<>(executors);
      all.add(end.taskInfo().executorId());
      if (!end.taskInfo().successful()) {
        return new Tasks(all, count, rows, rowsOverNetwork, blockReads);
      }
      // Spark counts no bytes if a task computes the rows of a block that the cache lacks.
      long reads = end.taskMetrics().inputMetrics().bytesRead() > 0 ? 1 : 0;
      return new Tasks(
          all,
          count + 1,
          rows + metric(end, ROWS),
          rowsOverNetwork + metric(end, ROWS_OVER_NETWORK),
          blockReads + reads);
    }

    private static long metric(SparkListenerTaskEnd end, String name) {
      long sum = 0;
      for (AccumulableInfo metric : CollectionConverters.asJava(end.taskInfo().accumulables())) {
        if (metric.name().contains(name) && metric.update().isDefined()) {
          sum += ((Number) metric.update().get()).longValue();
        }
      }
      return sum;
    }
  }

  /** Starts a record, which ends with the application or by {@link #close()}. */
  TaskRecord(SparkContext context) {
    this.context = context;
    context.addSparkListener(this);
  }

  /** Waits for the events of all tasks that have ended. */
  void await() {
    try {
      context.listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
    } catch (TimeoutException e) {
      throw new DDStoreException("--no-shortcut: the record of tasks is incomplete: " + e, e);
    }
  }

  /** Forgets the tasks, but not the blocks. Call after {@link #await}. */
  void forgetTasks() {
    tasks = Tasks.NONE;
  }

  @Override
  public void onBlockUpdated(SparkListenerBlockUpdated updated) {
    BlockUpdatedInfo info = updated.blockUpdatedInfo();
    if (info.blockId().isRDD() && info.storageLevel().isValid()) {
      blocks.add(info.blockId().name());
      blockExecutors.add(info.blockManagerId().executorId());
    }
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    tasks = tasks.plus(end);
  }

  int blocks() {
    return blocks.size();
  }

  /** Returns the ids of all executors that have put a block into the cache. */
  Set<String> blockExecutors() {
    return Set.copyOf(blockExecutors);
  }

  Tasks tasks() {
    return tasks;
  }

  @Override
  public void close() {
    context.removeSparkListener(this);
  }
}
