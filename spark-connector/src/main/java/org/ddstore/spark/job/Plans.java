// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkException;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.failure.RetryPolicy;
import org.ddstore.spark.failure.TaskFailedException;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.NotUniformException;
import org.ddstore.spark.task.JobDescription;
import org.ddstore.spark.types.SourceChangedException;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plans of a load, one per attempt. A new attempt needs a new plan, because rows that a plan
 * has stored, for example to sort them, are lost with the executor that holds them, and files may
 * have changed.
 *
 * <p>If executors are lost during planning, planning is repeated, for at most {@code
 * spark.ddstore.maxAttempts} attempts. Spark repeats tasks whose output is lost, but fails the job
 * if that would mix the rows of two computations.
 */
public final class Plans implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Plans.class);

  private final SparkContext context;
  private final int maxAttempts;
  private final RetryPolicy policy;
  private final Supplier<IngestPlan> planner;
  private final List<NotUniformException> corrections = new ArrayList<>();
  private IngestPlan plan;

  /**
   * Makes the first plan. Blocks while the jobs of the plan run.
   *
   * @param settings maximum number of attempts to plan, and which failures end them
   * @throws StoreJobException if executors were lost in every attempt, or a task failed permanently
   */
  public Plans(SparkContext context, Settings settings, Supplier<IngestPlan> planner) {
    this.context = context;
    this.maxAttempts = settings.maxAttempts();
    this.policy = RetryPolicy.of(settings);
    this.planner = planner;
    this.plan = readingAll(this::firstPlan);
    plan.warnings().forEach(LOG::warn);
  }

  /**
   * Runs a planner, and names the root cause of Spark's exceptions, which only their trace has.
   *
   * @throws StoreJobException if Spark cannot read the rows; it names the root cause
   */
  public static IngestPlan readingAll(Supplier<IngestPlan> planner) {
    try {
      return planner.get();
    } catch (Exception e) {
      if (e instanceof InterruptedException) { // thrown undeclared
        throw Interrupts.beforeCommit(e, "plan of the rows");
      }
      if (e instanceof SparkException) { // thrown undeclared, too
        throw new StoreJobException(
            "the rows cannot be read: "
                + RetryPolicy.withCause(
                    RetryPolicy.firstLine(e.getMessage()), RetryPolicy.rootCause(e)),
            e);
      }
      throw e;
    }
  }

  private IngestPlan firstPlan() {
    for (int attempt = 1; ; attempt++) {
      try {
        return plan(attempt);
      } catch (TaskFailedException e) {
        throw e;
      } catch (StoreJobException e) {
        if (attempt >= maxAttempts) {
          throw e;
        }
        LOG.warn("plan of rows failed, planning again: {}", e.getMessage());
      }
    }
  }

  public IngestPlan current() {
    return plan;
  }

  public IngestPlan forAttempt(int attempt) {
    if (attempt > 1) {
      plan.close();
      plan = plan(attempt);
      for (NotUniformException found : corrections) {
        plan = plan.with(found);
      }
    }
    return plan;
  }

  /**
   * @throws StoreJobException if another attempt may succeed
   */
  private IngestPlan plan(int attempt) {
    try (JobWatch watch = new JobWatch(context, policy::isPermanent)) { // Spark repeats such tasks
      return plan(attempt, watch);
    }
  }

  private IngestPlan plan(int attempt, JobWatch watch) {
    try {
      policy.apply(context);
      return JobDescription.detail(context, "plan of the rows", () -> watch.observe(planner));
    } catch (Error e) {
      watch.cancel();
      throw e;
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        watch.cancel();
      } else if (!(e instanceof DDStoreException)) {
        throwIfPermanent(watch);
      }
      if (!mayBeRepeated(e, watch)) {
        throw e;
      }
      throw new StoreJobException(
          "attempt %d of %d to plan the rows failed: %s"
              .formatted(attempt, maxAttempts, RetryPolicy.firstLine(e.getMessage())),
          watch.first().map(JobWatch.Failure::cause).orElse(e));
    } finally {
      RetryPolicy.clear(context);
    }
  }

  private void throwIfPermanent(JobWatch watch) {
    watch.awaitListeners();
    JobWatch.Failure first = watch.first().orElse(null);
    if (first != null && !first.lostExecutor() && policy.isPermanent(first.reason())) {
      throw TaskFailedException.of(first.reason());
    }
  }

  private boolean mayBeRepeated(Exception e, JobWatch watch) {
    if (e instanceof SourceChangedException) {
      return true;
    }
    if (!(e instanceof SparkException)
        || context.isStopped()
        || JobWatch.isCancelled(e)
        || policy.isPermanent(e)) {
      return false;
    }
    watch.awaitListeners();
    return watch.hasLostOutput()
        || watch
            .first()
            .map(failure -> failure.cause() instanceof SourceChangedException)
            .orElse(false);
  }

  /** Runs a job, and repeats it with a corrected plan while it finds columns of another form. */
  public <T> T load(Supplier<T> job) {
    while (true) {
      try {
        return job.get();
      } catch (NotUniformException e) {
        LOG.info("plan of rows corrected, loading again: {}", e.getMessage());
        corrections.add(e);
        plan = plan.with(e); // shares the stored rows of the previous plan
      }
    }
  }

  /** Releases the rows that the plan has stored, even if the thread is interrupted. */
  @Override
  public void close() {
    Interrupts.cleanUp("release of stored rows", () -> plan.close());
  }
}
