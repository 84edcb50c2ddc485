package org.ddstore.spark;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.ddstore.RankFailedException;

/**
 * Notes how the tasks of one job failed: the exception that Spark throws on the driver has only
 * their text.
 */
final class JobFailures extends SparkListener {
  /** The local property that tells our job from others. */
  static final String JOB_PROPERTY = "spark.ddstore.internal.job";

  private final String job;
  private final Set<Integer> stages = new HashSet<>();
  private final List<Failure> failures = new ArrayList<>();

  /**
   * A task that failed.
   *
   * @param rank its partition
   * @param cause what it threw, or null if it could not say or could not be read
   * @param text what Spark says of it
   */
  record Failure(int rank, Throwable cause, String text) {}

  JobFailures(String job) {
    this.job = job;
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

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    if (!stages.contains(end.stageId())) {
      return;
    }
    int rank = end.taskInfo().index();
    if (end.reason() instanceof ExceptionFailure failure) {
      Throwable cause = failure.exception().isDefined() ? failure.exception().get() : null;
      failures.add(
          new Failure(rank, cause, failure.className() + ": " + firstLine(failure.description())));
    } else if (end.reason() instanceof ExecutorLostFailure lost) {
      failures.add(new Failure(rank, null, lost.toErrorString()));
    }
  }

  private static String firstLine(String text) {
    return text == null ? "" : text.lines().findFirst().orElse("");
  }

  /** The first failure, preferring one that is not the echo of another rank's. */
  synchronized Optional<Failure> first() {
    return failures.stream()
        .filter(failure -> !(failure.cause() instanceof RankFailedException))
        .findFirst()
        .or(() -> failures.stream().findFirst());
  }
}
