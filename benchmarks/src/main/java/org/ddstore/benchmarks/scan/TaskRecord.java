// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scan;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
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
final class TaskRecord extends SparkListener {
  /** Metrics of a scan of a store. */
  private static final String ROWS = "rows read from shards";

  private static final String ROWS_OVER_NETWORK = "rows read over the network";

  private static final long LISTENER_TIMEOUT_MS = 60_000;

  private final SparkContext context;
  private final Set<String> blocks = new HashSet<>();
  private final Set<String> blockExecutors = new TreeSet<>();
  private final Set<String> taskExecutors = new TreeSet<>();
  private long tasks;
  private long rows;
  private long rowsOverNetwork;
  private long blockReads;

  private TaskRecord(SparkContext context) {
    this.context = context;
  }

  /** Starts a record, which ends with the application or by {@link #end()}. */
  static TaskRecord start(SparkContext context) {
    TaskRecord record = new TaskRecord(context);
    context.addSparkListener(record);
    return record;
  }

  /** Waits for the events of all tasks that have ended. */
  void await() {
    try {
      context.listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
    } catch (TimeoutException e) {
      throw new DDStoreException("--no-shortcut: the record of tasks is incomplete: " + e, e);
    }
  }

  /** Forgets the tasks so far, but not the blocks. */
  synchronized void forgetTasks() {
    taskExecutors.clear();
    tasks = 0;
    rows = 0;
    rowsOverNetwork = 0;
    blockReads = 0;
  }

  void end() {
    context.removeSparkListener(this);
  }

  @Override
  public synchronized void onBlockUpdated(SparkListenerBlockUpdated updated) {
    BlockUpdatedInfo info = updated.blockUpdatedInfo();
    if (info.blockId().isRDD() && info.storageLevel().isValid()) {
      blocks.add(info.blockId().name());
      blockExecutors.add(info.blockManagerId().executorId());
    }
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    taskExecutors.add(end.taskInfo().executorId());
    if (!end.taskInfo().successful()) {
      return;
    }
    tasks++;
    // Spark counts no bytes if a task computes the rows of a block that the cache lacks.
    blockReads += end.taskMetrics().inputMetrics().bytesRead() > 0 ? 1 : 0;
    for (AccumulableInfo metric : CollectionConverters.asJava(end.taskInfo().accumulables())) {
      rows += valueOf(metric, ROWS);
      rowsOverNetwork += valueOf(metric, ROWS_OVER_NETWORK);
    }
  }

  private static long valueOf(AccumulableInfo metric, String name) {
    boolean isNamed = metric.name().isDefined() && metric.name().get().equals(name);
    return isNamed && metric.update().isDefined()
        ? ((Number) metric.update().get()).longValue()
        : 0;
  }

  /** Returns the number of blocks that were put into the cache. */
  synchronized int blocks() {
    return blocks.size();
  }

  /** Returns the ids of all executors that have put a block into the cache. */
  synchronized Set<String> blockExecutors() {
    return Set.copyOf(blockExecutors);
  }

  /** Returns the ids of the executors of the tasks. */
  synchronized Set<String> taskExecutors() {
    return Set.copyOf(taskExecutors);
  }

  /** Returns the number of tasks that have succeeded. */
  synchronized long tasks() {
    return tasks;
  }

  /** Returns the number of rows that tasks have read from stores. */
  synchronized long rows() {
    return rows;
  }

  /** Returns the number of these rows that came over a transport. */
  synchronized long rowsOverNetwork() {
    return rowsOverNetwork;
  }

  /** Returns the number of tasks that have read a block from the cache of some executor. */
  synchronized long blockReads() {
    return blockReads;
  }
}
