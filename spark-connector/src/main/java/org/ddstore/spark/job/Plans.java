package org.ddstore.spark.job;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkException;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.NotUniformException;
import org.ddstore.spark.types.SourceChangedException;
import org.ddstore.spark.types.StoreJobException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plan of a load in use. A new attempt has a new one: what a plan has stored, in order to sort
 * it for example, is lost with the executor that holds it, and files may have changed.
 *
 * <p>Planning is itself repeated, {@code spark.ddstore.maxAttempts} times at most, if executors
 * were lost meanwhile. Spark repeats the tasks whose output is lost, but fails the job where it
 * cannot do so without mixing the rows of two computations.
 */
public final class Plans implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Plans.class);

  private final SparkContext context;
  private final int maxAttempts;
  private final Supplier<IngestPlan> planner;
  private final List<NotUniformException> learnt = new ArrayList<>();
  private IngestPlan plan;

  /**
   * Plans. Blocks while the jobs of the plan run.
   *
   * @param maxAttempts to plan
   * @throws StoreJobException if executors were lost in the last attempt to plan, too
   */
  public Plans(SparkContext context, int maxAttempts, Supplier<IngestPlan> planner) {
    this.context = context;
    this.maxAttempts = maxAttempts;
    this.planner = planner;
    this.plan = readingAll(this::firstPlan);
    plan.warnings().forEach(LOG::warn);
  }

  /**
   * Runs a planner. Spark's exceptions have the root cause in their trace only.
   *
   * @throws StoreJobException naming the root cause if Spark cannot read the rows
   */
  public static IngestPlan readingAll(Supplier<IngestPlan> planner) {
    try {
      return planner.get();
    } catch (Exception e) {
      if (e instanceof InterruptedException) { // checked, and not declared
        throw Interrupts.beforeCommit(e, "plan of the rows");
      }
      if (e instanceof SparkException) { // the same
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
      } catch (StoreJobException e) {
        if (attempt >= maxAttempts) {
          throw e;
        }
        LOG.warn("{}; planning again", e.getMessage());
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
      for (NotUniformException found : learnt) {
        plan = plan.with(found);
      }
    }
    return plan;
  }

  /**
   * @throws StoreJobException if another attempt to plan may succeed
   */
  private IngestPlan plan(int attempt) {
    JobWatch watch = new JobWatch(UUID.randomUUID().toString());
    try {
      context.addSparkListener(watch);
      context.setLocalProperty(JobWatch.JOB_PROPERTY, watch.job());
      context.addJobTag(watch.job());
      return planner.get();
    } catch (Error e) {
      cancel(watch);
      throw e;
    } catch (Exception e) {
      if (e instanceof InterruptedException) { // Spark lets the job run on
        cancel(watch);
      }
      if (!mayBeRepeated(e, watch)) {
        throw e;
      }
      throw new StoreJobException(
          "attempt %d of %d to plan the rows failed: %s"
              .formatted(attempt, maxAttempts, RetryPolicy.firstLine(e.getMessage())),
          watch.first().map(JobWatch.Failure::cause).orElse(e));
    } finally {
      context.removeJobTag(watch.job());
      context.setLocalProperty(JobWatch.JOB_PROPERTY, null);
      context.removeSparkListener(watch);
    }
  }

  private void cancel(JobWatch watch) {
    if (!context.isStopped()) {
      context.cancelJobsWithTag(watch.job());
    }
  }

  private boolean mayBeRepeated(Exception e, JobWatch watch) {
    if (e instanceof SourceChangedException) {
      return true;
    }
    if (!(e instanceof SparkException)
        || context.isStopped()
        || BarrierJob.isCancelled(e)
        || RetryPolicy.isPermanent(e)) {
      return false;
    }
    BarrierJob.awaitListeners(context);
    return watch.hasLostOutput()
        || watch
            .first()
            .map(failure -> failure.cause() instanceof SourceChangedException)
            .orElse(false);
  }

  /** Runs a job by these plans, and again as long as it finds that a column has another form. */
  public <T> T load(Supplier<T> job) {
    while (true) {
      try {
        return job.get();
      } catch (NotUniformException e) {
        LOG.info("{}; loading again with what is known now", e.getMessage());
        learnt.add(e);
        plan = plan.with(e); // shares what the former one has stored
      }
    }
  }

  /** Releases the rows that the plan has stored, also if the thread is interrupted. */
  @Override
  public void close() {
    Interrupts.cleanUp("release of stored rows", () -> plan.close());
  }
}
