// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.FetchFailed;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.ddstore.spark.backend.FailedAttempt;
import org.ddstore.spark.failure.RetryPolicy;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.OptionKeys;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A record of the tasks of one job: their failures, because the exception that Spark throws on the
 * driver contains only their text, and the tasks that still run, because Spark ends a failed job
 * without waiting for them. Listens from its creation until it is closed.
 */
final class JobWatch extends SparkListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JobWatch.class);
  private static final long LISTENER_TIMEOUT_MS = 10_000;

  /** Spark's message of a cancelled job, with or without an error class before it. */
  private static final Pattern CANCELLED =
      Pattern.compile("(\\[\\w+\\] )?Job (\\d+ )?cancelled.*", Pattern.DOTALL);

  /** The local property that identifies the job. */
  static final String JOB_PROPERTY = OptionKeys.SETTING_PREFIX + "internal.job";

  private final SparkContext context;
  private final Predicate<ExceptionFailure> isFatal;

  /** Value of {@link #JOB_PROPERTY}, which is also a tag of the job. */
  private final String job = UUID.randomUUID().toString();

  private final Set<Integer> stages = new HashSet<>();
  private final List<Failure> failures = new ArrayList<>();

  private final Set<String> executors = new TreeSet<>();
  private boolean lostOutput;

  /** Ranks of running tasks, by task id. */
  private final Map<Long, Integer> running = new HashMap<>();

  /**
   * The failure of a task.
   *
   * @param rank partition of the task
   * @param cause exception of the task, or null if the driver did not receive it
   * @param text description of the failure
   * @param reason Spark's report of the exception, or null if the executor of the task ended
   * @param outOfMemory whether an OutOfMemoryError ended the task or its executor
   */
  record Failure(
      int rank, Throwable cause, String text, ExceptionFailure reason, boolean outOfMemory) {
    boolean lostExecutor() {
      return reason == null;
    }
  }

  /**
   * @param isFatal whether an exception of a task cancels the job; called on the listeners' thread
   */
  JobWatch(SparkContext context, Predicate<ExceptionFailure> isFatal) {
    this.context = context;
    this.isFatal = isFatal;
    context.addSparkListener(this);
  }

  /** Runs an action whose jobs this object observes. */
  <T> T observe(Supplier<T> action) {
    try {
      context.setLocalProperty(JOB_PROPERTY, job);
      context.addJobTag(job);
      return action.get();
    } finally {
      context.removeJobTag(job);
      context.setLocalProperty(JOB_PROPERTY, null);
    }
  }

  /** Cancels the job, which Spark does not do if the thread that waits for it ends. */
  void cancel() {
    if (!context.isStopped()) {
      context.cancelJobsWithTag(job);
    }
  }

  static boolean isCancelled(Exception e) {
    return CANCELLED.matcher(String.valueOf(e.getMessage())).matches();
  }

  /** Waits for the listener bus, which reports task failures after the failure of the job. */
  void awaitListeners() {
    boolean interrupted = Thread.interrupted();
    try {
      context.listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
    } catch (TimeoutException e) {
      LOG.warn("failure reasons of the job may be incomplete: {}", e.getMessage());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void close() {
    context.removeSparkListener(this);
  }

  @Override
  public synchronized void onJobStart(SparkListenerJobStart start) {
    if (start.properties() != null && job.equals(start.properties().getProperty(JOB_PROPERTY))) {
      start
          .stageIds()
          .foreach(
              id -> {
                stages.add((Integer) id);
                return null;
              });
    }
  }

  /** Notes lost output: Spark submits a stage again if outputs of its tasks are lost. */
  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    StageInfo stage = submitted.stageInfo();
    lostOutput |= stage.attemptNumber() > 0 && stages.contains(stage.stageId());
  }

  @Override
  public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    lostOutput |= executors.contains(removed.executorId());
  }

  @Override
  public synchronized void onTaskStart(SparkListenerTaskStart start) {
    if (stages.contains(start.stageId())) {
      running.put(start.taskInfo().taskId(), start.taskInfo().index());
      executors.add(start.taskInfo().executorId());
    }
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    if (!stages.contains(end.stageId())) {
      return;
    }
    int rank = end.taskInfo().index();
    if (end.reason() instanceof ExceptionFailure failure) {
      Throwable cause = failure.exception().isDefined() ? failure.exception().get() : null;
      failures.add(
          new Failure(
              rank,
              cause,
              RetryPolicy.describe(failure),
              failure,
              RetryPolicy.isOutOfMemory(failure)));
      if (isFatal.test(failure)) {
        cancel();
      }
    } else if (end.reason() instanceof ExecutorLostFailure lost) {
      String text = lost.toErrorString();
      failures.add(
          new Failure(
              rank, null, RetryPolicy.describe(text), null, RetryPolicy.isOutOfMemory(text)));
    }
    lostOutput |=
        end.reason() instanceof FetchFailed || end.reason() instanceof ExecutorLostFailure;
    running.remove(end.taskInfo().taskId());
    notifyAll();
  }

  /**
   * Returns whether outputs of tasks may be lost: an executor that ran tasks ended, a task could
   * not fetch outputs, or a stage was submitted again.
   */
  synchronized boolean hasLostOutput() {
    return lostOutput;
  }

  synchronized Set<String> executors() {
    return new TreeSet<>(executors);
  }

  /** Returns what the transport must know of a failed attempt. */
  synchronized FailedAttempt failedAttempt() {
    return new FailedAttempt(
        executors,
        failures.stream().map(Failure::cause).filter(Objects::nonNull).toList(),
        failures.stream().anyMatch(Failure::lostExecutor));
  }

  /**
   * Returns the first failure that is not a consequence of another, else the first failure; of rows
   * that cannot be stored, the first row. An executor without memory ends, which fails its other
   * tasks in other ways.
   */
  synchronized Optional<Failure> first() {
    return failures.stream()
        .filter(Failure::outOfMemory)
        .min(Comparator.comparing(Failure::lostExecutor)) // an exception tells more
        .or(
            () ->
                failures.stream()
                    .filter(
                        failure -> !SecondaryFailure.isConsequence(failure.cause(), failure.rank()))
                    .min(Comparator.comparingLong(JobWatch::refusedRow)))
        .or(() -> failures.stream().findFirst());
  }

  /** Returns the row of a value that cannot be stored; the largest number for other failures. */
  private static long refusedRow(Failure failure) {
    return failure.cause() instanceof IngestException refused ? refused.row() : Long.MAX_VALUE;
  }

  /**
   * Waits until all started tasks have ended, successfully or not.
   *
   * @return the ranks whose tasks still run after the timeout
   */
  synchronized Collection<Integer> awaitTasks(Duration timeout) throws InterruptedException {
    long deadlineNs = System.nanoTime() + timeout.toNanos();
    long leftMs = timeout.toMillis();
    while (!running.isEmpty() && leftMs > 0) {
      wait(leftMs);
      leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
    }
    return new TreeSet<>(running.values());
  }
}
