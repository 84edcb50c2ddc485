// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.io.NotSerializableException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.backend.AttemptPolicy;
import org.ddstore.spark.backend.TransportBackends;
import org.ddstore.spark.cluster.AuthenticationWarning;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.cluster.ExecutorRefill;
import org.ddstore.spark.cluster.Preflight;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.failure.RetryPolicy;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.NotUniformException;
import org.ddstore.spark.ingest.ShardLoader;
import org.ddstore.spark.task.JobDescription;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Plural;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job that runs a task on every rank of a store, in one barrier stage, and is resubmitted after a
 * failure.
 *
 * <p>Spark never retries a barrier stage whose results go to the driver, so this class submits it
 * again, each time after a new preflight. A successful job is never repeated.
 */
public final class BarrierJob {
  private static final Logger LOG = LoggerFactory.getLogger(BarrierJob.class);
  private static final String INTERRUPT_ON_CANCEL = "spark.job.interruptOnCancel";

  /** Minimum time that an attempt after a failure waits for slots. */
  public static final Duration REPLACEMENT = Duration.ofMinutes(2);

  private static final Duration MAX_PAUSE = Duration.ofSeconds(30);

  /** Maximum time to wait for stopped ranks; {@code run} returns after it even if they run. */
  private static final Duration LAST_TASKS = Duration.ofSeconds(10);

  /** Time for Spark to report executors that end by the failure, such as those without memory. */
  private static final Duration ENDING_EXECUTORS = Duration.ofSeconds(3);

  /** Longer than the time after which Spark removes an executor that does not answer. */
  private static final Duration TASKS_BEFORE_RESUBMISSION = Duration.ofMinutes(4);

  /**
   * The work of one attempt.
   *
   * @param rows rows of all ranks, one partition per rank
   * @param loader loader of the shards; null if nothing is loaded
   * @param rowsToken token of the resident store that the ranks read or load; null for a store that
   *     ends with the job
   * @param body work of each rank after all ranks are connected
   */
  public record Load<T>(
      RDD<InternalRow> rows, ShardLoader loader, StoreToken rowsToken, RankBody<T> body) {
    /** Returns the load of all rows of a plan into a store that ends with its ranks. */
    public static <T> Load<T> of(IngestPlan plan, ReplicaGroups groups, RankBody<T> body) {
      return new Load<>(plan.shards(groups.ranks()), plan.encoder(groups.members()), null, body);
    }
  }

  /** A source of the work of each attempt; rows of an earlier attempt may be lost. */
  @FunctionalInterface
  public interface LoadSource<T> {
    Load<T> load(int attempt);
  }

  private final SparkSession session;
  private final ResourceProfile profile;
  private final Settings settings;
  private final ReplicaGroups groups;
  private final int ranks;
  private final long estimatedBytes;
  private final SlotsWarning slotsWarning;
  private final ResidentView stores;
  private final AttemptPolicy policy;
  private final RetryPolicy retries;

  /**
   * Whether an earlier attempt lost an executor without memory, and no task of the job told so: a
   * task of another job may have used the memory.
   */
  private boolean lostMemory;

  /**
   * @param profile resources that each rank needs of its executor
   * @param estimatedBytes memory of all copies of the data, for the preflight; 0 if unknown
   * @param slotsWarning warning that is logged if the ranks occupy all slots
   */
  public BarrierJob(
      SparkSession session,
      ResourceProfile profile,
      Settings settings,
      ReplicaGroups groups,
      long estimatedBytes,
      SlotsWarning slotsWarning,
      ResidentView stores) {
    this.session = session;
    this.profile = profile;
    this.settings = settings;
    this.groups = groups;
    this.ranks = groups.ranks();
    this.estimatedBytes = estimatedBytes;
    this.slotsWarning = slotsWarning;
    this.stores = stores;
    this.retries = RetryPolicy.of(settings);
    this.policy =
        TransportBackends.configured(settings.transport())
            .map(backend -> backend.attempts(session.sparkContext(), ranks, stores::lossWith))
            .orElse(AttemptPolicy.NONE);
  }

  /**
   * Runs the job until it succeeds, for at most {@code spark.ddstore.maxAttempts} attempts.
   *
   * @param source source of the work, called before each attempt
   * @return the results of all ranks, in rank order
   * @throws IngestException if the data cannot be loaded, which another attempt cannot change
   * @throws NotUniformException if the load needs another schema
   * @throws StoreJobException if the last attempt failed
   */
  public <T> List<T> run(LoadSource<T> source) {
    StoreJobException last = null;
    for (int attempt = 1; ; attempt++) {
      checkCluster(last);
      try (JobWatch watch = new JobWatch(session.sparkContext(), failure -> false)) {
        try {
          return submit(source.load(attempt), attempt, watch);
        } catch (Exception e) {
          last = afterFailure(e, watch, attempt);
        } catch (Error e) {
          watch.cancel(); // nothing waits for the job any longer
          throw e;
        }
      }
      LOG.warn("job of {} ranks failed, submitting it again: {}", ranks, last.getMessage());
      await(pauseAfter(attempt), last);
    }
  }

  /**
   * Returns the time between a failed attempt and the next one: none after the first, then 1 s, 2 s
   * and so on to 30 s, because a lack of descriptors or connections may pass.
   */
  static Duration pauseAfter(int attempt) {
    return attempt == 1
        ? Duration.ZERO
        : Duration.ofSeconds(Math.min(1L << Math.min(attempt - 2, 30), MAX_PAUSE.toSeconds()));
  }

  private static void await(Duration pause, StoreJobException failed) {
    try {
      Thread.sleep(pause.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed;
    }
  }

  public static RDD<InternalRow> onProfile(RDD<InternalRow> rows, ResourceProfile profile) {
    boolean isDefault = profile.id() == ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID();
    return isDefault ? rows : rows.withResources(profile);
  }

  /** Returns the settings with enough time for a cluster manager to replace an executor. */
  private Settings withReplacementTimeout() {
    return settings.slotsTimeout().compareTo(REPLACEMENT) > 0
        ? settings
        : settings.with(Setting.SLOTS_TIMEOUT, REPLACEMENT);
  }

  /**
   * Waits for executors that are being replaced, and checks that the cluster can run the job.
   * Blocks.
   *
   * @throws PreflightException if the cluster cannot run the job; it lists what is missing
   */
  public void awaitCluster() {
    checkCluster(null);
  }

  private void checkCluster(StoreJobException last) {
    SparkContext context = session.sparkContext();
    try {
      policy.replaceExecutors();
      ClusterFacts cluster =
          Preflight.check(
              context,
              profile,
              ranks,
              estimatedBytes,
              stores.memoryBytes(),
              last == null && !ExecutorRefill.isRunning(context)
                  ? settings
                  : withReplacementTimeout());
      ExecutorRefill.end(context);
      if (settings.ranks().isPresent()) { // the default takes all slots on purpose
        slotsWarning.logIfNeeded(ranks, cluster, context.getConf());
      }
      AuthenticationWarning.logIfNeeded(context);
      policy
          .warning(cluster.executors().stream().map(ClusterFacts.Executor::id).toList())
          .ifPresent(LOG::warn);
    } catch (DDStoreException e) {
      if (last != null) {
        e.addSuppressed(last); // the failure that cost slots
      }
      throw e;
    }
  }

  private <T> List<T> submit(Load<T> load, int attempt, JobWatch watch) {
    SparkContext context = session.sparkContext();
    RankRunner<T> runner =
        new RankRunner<>(load.loader(), settings, load.body(), groups, attempt, load.rowsToken());
    RDD<InternalRow> rows = onProfile(load.rows(), profile);
    String interrupt = context.getLocalProperty(INTERRUPT_ON_CANCEL);
    String detail =
        "%s, attempt %d of %d".formatted(Plural.of(ranks, "rank"), attempt, settings.maxAttempts());
    try (StartExchange start = StartExchange.open(context, runner.token(), ranks)) {
      context.setLocalProperty(INTERRUPT_ON_CANCEL, "true");
      LOG.debug("{} opened", start);
      List<T> results =
          JobDescription.detail(
              context, detail, () -> watch.observe(() -> BarrierStage.run(rows, runner::run)));
      policy
          .succeeded(
              () -> {
                watch.awaitListeners(); // completes watch.executors()
                return watch.executors();
              })
          .ifPresent(stores::warnOf);
      return results;
    } finally {
      context.setLocalProperty(INTERRUPT_ON_CANCEL, interrupt);
    }
  }

  /**
   * Waits for the remaining tasks of a failed attempt and cleans up.
   *
   * @return the failure, if another attempt follows
   * @throws RuntimeException the failure, if no other attempt follows
   */
  private StoreJobException afterFailure(Exception e, JobWatch watch, int attempt) {
    SparkContext context = session.sparkContext();
    boolean interrupted = e instanceof InterruptedException;
    if (interrupted) {
      watch.cancel();
    }
    watch.awaitListeners();
    Collection<Integer> runningRanks = Set.of();
    try {
      watch.awaitTasks(ENDING_EXECUTORS);
    } catch (InterruptedException during) {
      interrupted = true;
    }
    RuntimeException failed = explain(e, watch, attempt, policy.failed(watch.failedAttempt()));
    boolean isRepeated =
        !interrupted
            && failed instanceof StoreJobException
            && attempt < settings.maxAttempts()
            && !context.isStopped()
            && !isLast(e, watch);
    lostMemory |= watch.first().map(BarrierJob::isOfLostMemory).orElse(false);
    try {
      if (policy.canReplaceExecutors()) {
        watch.awaitTasks(LAST_TASKS); // lets tasks end before their executor is replaced
        replaceExecutors(context, failed);
      }
      runningRanks = watch.awaitTasks(isRepeated ? TASKS_BEFORE_RESUBMISSION : LAST_TASKS);
    } catch (InterruptedException during) {
      interrupted = true;
    }
    sweep(failed);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (!runningRanks.isEmpty()) {
      failed.addSuppressed(
          new DDStoreException(
              "not submitted again: tasks of ranks %s are still running".formatted(runningRanks)));
    }
    if (!isRepeated || interrupted || !runningRanks.isEmpty()) {
      throw failed;
    }
    return (StoreJobException) failed;
  }

  /** Replaces executors that the transport cannot use again, with or without another attempt. */
  private void replaceExecutors(SparkContext context, RuntimeException failed) {
    if (context.isStopped()) {
      return;
    }
    try {
      policy.replaceExecutors();
    } catch (DDStoreException e) {
      failed.addSuppressed(e);
    }
  }

  /** Removes the files of killed executors of this host, in case no other attempt follows. */
  private void sweep(RuntimeException failed) {
    try {
      settings.segmentDirectory().ifPresent(ProcessDirectory::sweepDead);
      ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);
    } catch (DDStoreException e) {
      failed.addSuppressed(e);
    }
  }

  private boolean isLast(Exception e, JobWatch watch) {
    String message = String.valueOf(e.getMessage());
    return JobWatch.isCancelled(e)
        || message.contains("spark.driver.maxResultSize")
        || isPermanent(e, watch)
        || watch.first().map(BarrierJob::isUnsendable).orElse(false);
  }

  private boolean isPermanent(Exception e, JobWatch watch) {
    JobWatch.Failure first = watch.first().orElse(null);
    if (first != null && !first.lostExecutor()) {
      return retries.isPermanent(first.reason());
    }
    return (first != null && isOfLostMemory(first) && lostMemory) || retries.isPermanent(e);
  }

  private static boolean isOfLostMemory(JobWatch.Failure failure) {
    return failure.lostExecutor() && failure.outOfMemory();
  }

  private static boolean isUnsendable(JobWatch.Failure failure) {
    return !failure.lostExecutor()
        && failure.reason().className().equals(NotSerializableException.class.getName());
  }

  private RuntimeException explain(Exception e, JobWatch watch, int attempt, String remark) {
    Optional<JobWatch.Failure> first = watch.first();
    Throwable cause = first.map(JobWatch.Failure::cause).orElse(null);
    if (cause instanceof IngestException
        || cause instanceof NotUniformException
        || cause instanceof PreflightException) {
      return (DDStoreException) cause;
    }
    boolean fromSpark = !(e instanceof RuntimeException) || first.isPresent();
    if (!fromSpark) {
      return (RuntimeException) e;
    }
    return new StoreJobException(
        "attempt %d of %d on %s %s%s%s"
            .formatted(
                attempt,
                settings.maxAttempts(),
                Plural.of(ranks, "rank"),
                reason(e, first),
                isPermanent(e, watch) ? RetryPolicy.NO_OTHER : "",
                remark),
        cause == null ? e : cause);
  }

  private static String reason(Exception e, Optional<JobWatch.Failure> first) {
    String message = String.valueOf(e.getMessage());
    if (e instanceof InterruptedException) {
      return "was cancelled: the thread that waited for it was interrupted";
    }
    if (JobWatch.isCancelled(e)) {
      return "was cancelled: " + message;
    }
    return first
        .map(
            failure ->
                isUnsendable(failure)
                    ? "failed: the result of rank %d cannot be sent to the driver: %s"
                        .formatted(failure.rank(), failure.text())
                    : "failed: rank %d: %s".formatted(failure.rank(), failure.text()))
        .orElseGet(
            () ->
                "failed: "
                    + RetryPolicy.withCause(
                        RetryPolicy.firstLine(message), RetryPolicy.rootCause(e)));
  }
}
