package org.ddstore.spark;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkException;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.ingest.IngestException;
import org.ddstore.spark.ingest.NotUniformException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a task on every rank of a store, in one barrier stage, and again after a failure.
 *
 * <p>Spark never retries a barrier stage whose results go to the driver, so the driver submits it
 * again itself, each time after a fresh preflight. A job that has ended well is not repeated.
 */
final class BarrierJob {
  private static final Logger LOG = LoggerFactory.getLogger(BarrierJob.class);
  private static final String INTERRUPT_ON_CANCEL = "spark.job.interruptOnCancel";
  private static final long LISTENER_TIMEOUT_MS = 10_000;

  private final SparkSession session;
  private final Settings settings;
  private final int ranks;
  private final long estimatedBytes;

  /**
   * @param estimatedBytes of one copy of the data, for the preflight; 0 if not known
   */
  BarrierJob(SparkSession session, Settings settings, int ranks, long estimatedBytes) {
    this.session = session;
    this.settings = settings;
    this.ranks = ranks;
    this.estimatedBytes = estimatedBytes;
  }

  /**
   * Runs the job until it succeeds, at most {@code spark.ddstore.maxAttempts} times.
   *
   * @param rows one partition per rank
   * @return the ranks' results in rank order
   * @throws IngestException if the data cannot be loaded: it would fail again
   * @throws NotUniformException if the schema has to be changed before it can be loaded
   * @throws StoreJobException if the last attempt failed
   */
  <T> List<T> run(RDD<InternalRow> rows, ShardLoader loader, RankTask<T> task) {
    for (int attempt = 1; ; attempt++) {
      Preflight.check(session, ranks, estimatedBytes, settings);
      String job = UUID.randomUUID().toString();
      JobFailures failures = new JobFailures(job);
      try {
        return submit(rows, new RankRunner<>(loader, settings, task, attempt), job, failures);
      } catch (Exception e) {
        sweep();
        RuntimeException failed = explain(e, failures, attempt);
        if (attempt >= settings.maxAttempts()
            || failed instanceof IngestException
            || failed instanceof NotUniformException
            || Thread.currentThread().isInterrupted()) {
          throw failed;
        }
        LOG.warn("{}; submitting it again", failed.getMessage());
      }
    }
  }

  private <T> List<T> submit(
      RDD<InternalRow> rows, RankRunner<T> runner, String job, JobFailures failures) {
    SparkContext context = session.sparkContext();
    String interrupt = context.getLocalProperty(INTERRUPT_ON_CANCEL);
    context.addSparkListener(failures);
    context.setLocalProperty(INTERRUPT_ON_CANCEL, "true");
    context.setLocalProperty(JobFailures.JOB_PROPERTY, job);
    try {
      List<T> results = BarrierStage.run(rows, runner::run);
      context.removeSparkListener(failures);
      return results;
    } catch (Exception e) {
      awaitListeners(context);
      context.removeSparkListener(failures);
      throw e;
    } finally {
      context.setLocalProperty(INTERRUPT_ON_CANCEL, interrupt);
      context.setLocalProperty(JobFailures.JOB_PROPERTY, null);
    }
  }

  /** Task failures reach listeners a moment after the job's. */
  private static void awaitListeners(SparkContext context) {
    try {
      context.listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
    } catch (TimeoutException e) {
      LOG.warn("the reasons of a failed job may be incomplete: {}", e.getMessage());
    }
  }

  /** What killed executors of this host left, if the next attempt is not there to do it. */
  private void sweep() {
    settings.segmentDirectory().ifPresent(ProcessDirectory::sweepDead);
    ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);
  }

  private RuntimeException explain(Exception e, JobFailures failures, int attempt) {
    Optional<JobFailures.Failure> first = failures.first();
    Throwable cause = first.map(JobFailures.Failure::cause).orElse(null);
    if (cause instanceof IngestException ingest) {
      return ingest;
    }
    if (cause instanceof NotUniformException notUniform) {
      return notUniform;
    }
    boolean fromSpark = e instanceof SparkException || first.isPresent();
    if (!fromSpark && e instanceof RuntimeException unchecked) {
      return unchecked;
    }
    String reason =
        first
            .map(failure -> "rank %d: %s".formatted(failure.rank(), failure.text()))
            .orElseGet(e::getMessage);
    return new StoreJobException(
        "attempt %d of %d on %d ranks failed: %s"
            .formatted(attempt, settings.maxAttempts(), ranks, reason),
        cause == null ? e : cause);
  }
}
