// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scan;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkJobInfo;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.status.api.v1.TaskData;
import org.ddstore.types.DDStoreException;
import scala.jdk.javaapi.CollectionConverters;

/** A task that occupies one slot of an executor until it is closed. */
final class OccupiedSlot implements AutoCloseable {
  private static final Duration START = Duration.ofMinutes(2);
  private static final Duration END = Duration.ofSeconds(10);
  private static final long POLL_MS = 10;
  private static final String RUNNING = "RUNNING";

  private final SparkContext context;
  private final String group = "ddstore-bench-scan-" + UUID.randomUUID();
  private final JavaFutureAction<Void> job;
  private final String executor;

  private OccupiedSlot(SparkContext context) {
    this.context = context;
    context.setJobGroup(group, "occupies a slot", true); // the task ends by an interrupt
    try {
      this.job =
          JavaSparkContext.fromSparkContext(context)
              .parallelize(List.of(0), 1)
              .foreachAsync(any -> new CountDownLatch(1).await());
    } finally {
      context.clearJobGroup();
    }
    if (!await(START, true)) {
      job.cancel(true);
      throw new DDStoreException(
          "--no-shortcut: no executor has a free slot after %d s: see the output above"
              .formatted(START.toSeconds()));
    }
    this.executor = task().executorId();
  }

  /**
   * Occupies a free slot. Blocks until the task has started.
   *
   * @throws DDStoreException if no slot becomes free within two minutes
   */
  static OccupiedSlot take(SparkContext context) {
    return new OccupiedSlot(context);
  }

  /** Returns the task, or null before it has started. */
  private TaskData task() {
    for (int id : context.statusTracker().getJobIdsForGroup(group)) {
      SparkJobInfo info = context.statusTracker().getJobInfo(id).get();
      for (int stage : info.stageIds()) {
        List<TaskData> tasks =
            CollectionConverters.asJava(context.statusStore().taskList(stage, 0, 1));
        if (!tasks.isEmpty()) {
          return tasks.get(0);
        }
      }
    }
    return null;
  }

  /** Waits until the task runs or has ended; returns false if it takes longer than the limit. */
  private boolean await(Duration limit, boolean isRunning) {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    try {
      for (TaskData task = task(); ; task = task()) {
        if (task != null && task.status().equals(RUNNING) == isRunning) {
          return true;
        } else if (System.nanoTime() - deadlineNs > 0) {
          return false;
        }
        Thread.sleep(POLL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  String executor() {
    return executor;
  }

  /**
   * Cancels the task and waits for its end, for at most ten seconds: an executor whose task ends
   * after Spark has stopped would report an error. Idempotent.
   */
  @Override
  public void close() {
    job.cancel(true);
    if (!context.isStopped()) {
      await(END, false);
    }
  }
}
