// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scan;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.ddstore.types.DDStoreException;

/** A task that occupies one slot of an executor until it is closed. */
final class OccupiedSlot extends SparkListener implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration END = Duration.ofSeconds(10);

  /** The property that holds the group of a job. */
  private static final String GROUP = "spark.jobGroup.id";

  private final SparkContext context;
  private final String group = "ddstore-bench-scan-" + UUID.randomUUID();
  private final CompletableFuture<String> started = new CompletableFuture<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private SparkListenerJobStart job; // of the listener's thread
  private JavaFutureAction<Void> task;

  private OccupiedSlot(SparkContext context) {
    this.context = context;
  }

  /**
   * Occupies a free slot. Blocks until the task has started.
   *
   * @throws DDStoreException if no slot becomes free within two minutes
   */
  static OccupiedSlot take(SparkContext context) {
    OccupiedSlot slot = new OccupiedSlot(context);
    try {
      slot.start();
      slot.await();
      return slot;
    } catch (RuntimeException | Error e) {
      slot.close();
      throw e;
    }
  }

  private void start() {
    context.addSparkListener(this);
    context.setJobGroup(group, "occupies a slot", true); // the task ends by an interrupt
    try {
      task =
          JavaSparkContext.fromSparkContext(context)
              .parallelize(List.of(0), 1)
              .foreachAsync(any -> new CountDownLatch(1).await());
    } finally {
      context.clearJobGroup();
    }
  }

  private void await() {
    try {
      started.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while waiting for a free slot", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new DDStoreException(
          "--no-shortcut: no executor has a free slot after %d s: see the output above"
              .formatted(PATIENCE.toSeconds()),
          e);
    }
  }

  @Override
  public void onJobStart(SparkListenerJobStart start) {
    Properties properties = start.properties();
    if (properties != null && group.equals(properties.getProperty(GROUP))) {
      job = start;
    }
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart start) {
    if (isOwn(start.stageId())) {
      started.complete(start.taskInfo().executorId());
    }
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (isOwn(end.stageId())) {
      ended.countDown();
    }
  }

  private boolean isOwn(int stage) {
    return job != null && job.stageIds().contains(stage);
  }

  /** Returns the id of the executor. */
  String executor() {
    return started.join();
  }

  /**
   * Cancels the task and waits for its end, for at most ten seconds: an executor whose task ends
   * after Spark has stopped would report an error. Idempotent.
   */
  @Override
  public void close() {
    if (task != null) {
      task.cancel(true);
    }
    try {
      if (started.isDone() && !context.isStopped()) {
        ended.await(END.toSeconds(), TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      context.removeSparkListener(this);
    }
  }
}
