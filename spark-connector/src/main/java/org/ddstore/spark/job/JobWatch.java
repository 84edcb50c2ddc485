package org.ddstore.spark.job;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.FetchFailed;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.ddstore.types.FrozenMembershipException;
import org.ddstore.types.RankLostException;

/**
 * Notes of the tasks of one job how they failed, because the exception that Spark throws on the
 * driver has only their text, and which still run, because Spark ends a failed job without waiting
 * for them.
 */
final class JobWatch extends SparkListener {
  /** The local property that tells our job from others. */
  static final String JOB_PROPERTY = "spark.ddstore.internal.job";

  private static final String CAUSED_BY = "Caused by: ";

  private final String job;
  private final Set<Integer> stages = new HashSet<>();
  private final List<Failure> failures = new ArrayList<>();

  private final Set<String> executors = new TreeSet<>();
  private boolean lostOutput;

  /** Task to rank. */
  private final Map<Long, Integer> running = new HashMap<>();

  /**
   * A task that failed.
   *
   * @param rank its partition
   * @param cause what it threw, or null if it could not say or could not be read
   * @param text what Spark says of it
   * @param thrown the class of what it threw, or empty
   * @param lostExecutor whether its executor ended under it
   */
  record Failure(int rank, Throwable cause, String text, String thrown, boolean lostExecutor) {}

  JobWatch(String job) {
    this.job = job;
  }

  /** The value of {@link #JOB_PROPERTY}, and a tag of the job. */
  String job() {
    return job;
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

  /** A stage is submitted again for the outputs of its tasks that were lost. */
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
      String text = failure.className() + ": " + RetryPolicy.firstLine(failure.description());
      failures.add(
          new Failure(
              rank,
              cause,
              RetryPolicy.withCause(text, rootCause(cause, failure.fullStackTrace())),
              failure.className(),
              false));
    } else if (end.reason() instanceof ExecutorLostFailure lost) {
      failures.add(new Failure(rank, null, lost.toErrorString(), "", true));
    }
    lostOutput |=
        end.reason() instanceof FetchFailed || end.reason() instanceof ExecutorLostFailure;
    running.remove(end.taskInfo().taskId());
    notifyAll();
  }

  /** The trace stands in for an exception that could not be sent to the driver. */
  private static String rootCause(Throwable cause, String trace) {
    if (cause != null || trace == null) {
      return RetryPolicy.rootCause(cause);
    }
    return trace
        .lines()
        .filter(line -> line.startsWith(CAUSED_BY))
        .reduce((earlier, later) -> later)
        .map(line -> line.substring(CAUSED_BY.length()))
        .orElse("");
  }

  /**
   * Whether outputs of tasks may have been lost: an executor that ran some ended, a task could not
   * fetch them, or a stage was submitted again.
   */
  synchronized boolean hasLostOutput() {
    return lostOutput;
  }

  /** The executors that tasks ran on. */
  synchronized Set<String> executors() {
    return new TreeSet<>(executors);
  }

  /**
   * Whether the executors can be in an MPI world together only once they are replaced: one was
   * lost, ranks have found the processes of others to be, or they are not in the same world.
   */
  synchronized boolean needsFreshWorld() {
    return failures.stream()
        .anyMatch(failure -> failure.lostExecutor() || has(failure.cause(), JobWatch::saysFrozen));
  }

  /** Whether a rank is known to have failed before all met: none is in an MPI world by this job. */
  synchronized boolean hasFailedBeforeMeeting() {
    return failures.stream().anyMatch(failure -> BeforeMeeting.isMarked(failure.cause()));
  }

  private static boolean saysFrozen(Throwable thrown) {
    return thrown instanceof RankLostException || thrown instanceof FrozenMembershipException;
  }

  private static boolean has(Throwable thrown, Predicate<Throwable> what) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (what.test(t)) {
        return true;
      }
    }
    return false;
  }

  /** The first failure, preferring one that is not the echo of another rank's. */
  synchronized Optional<Failure> first() {
    return failures.stream()
        .filter(failure -> !Echo.isEcho(failure.cause(), failure.rank()))
        .findFirst()
        .or(() -> failures.stream().findFirst());
  }

  /**
   * Waits until the tasks that have started have ended, one way or another.
   *
   * @return the ranks whose tasks still run after {@code timeout}
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
