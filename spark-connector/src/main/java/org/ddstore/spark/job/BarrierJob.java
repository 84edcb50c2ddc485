package org.ddstore.spark.job;

import java.io.NotSerializableException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.cluster.AuthenticationWarning;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.cluster.Preflight;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.config.TransportNames;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.NotUniformException;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a task on every rank of a store, in one barrier stage, and again after a failure.
 *
 * <p>Spark never retries a barrier stage whose results go to the driver, so the driver submits it
 * again itself, each time after a fresh preflight. A job that has ended well is not repeated.
 */
public final class BarrierJob {
  private static final Logger LOG = LoggerFactory.getLogger(BarrierJob.class);
  private static final String INTERRUPT_ON_CANCEL = "spark.job.interruptOnCancel";
  private static final long LISTENER_TIMEOUT_MS = 10_000;

  /** What Spark says of a job that somebody cancelled, with or without an error class before it. */
  private static final Pattern CANCELLED =
      Pattern.compile("(\\[\\w+\\] )?Job (\\d+ )?cancelled.*", Pattern.DOTALL);

  private static final String NO_OTHER = "; another attempt would fail in the same way";

  private static final String FRESH_WORLD =
      ". MPI membership is frozen: all executors of this world are replaced";

  /** How long the next attempt waits for slots at least. */
  public static final Duration REPLACEMENT = Duration.ofMinutes(2);

  /** Ranks that are told to stop do so within this time, or {@code run} ends before them. */
  private static final Duration LAST_TASKS = Duration.ofSeconds(10);

  /** More than Spark takes to give up an executor that does not answer. */
  private static final Duration TASKS_BEFORE_RESUBMISSION = Duration.ofMinutes(4);

  /**
   * What an attempt does.
   *
   * @param rows one partition per rank
   * @param loader fills the ranks' shards; null if they have none to fill
   * @param rowsToken of the resident store that the ranks read or load; null for a store that ends
   *     with them
   * @param body what each rank does when all know each other
   */
  public record Load<T>(
      RDD<InternalRow> rows, ShardLoader loader, StoreToken rowsToken, RankBody<T> body) {
    /** The load of all rows of a plan into a store that ends with its ranks. */
    public static <T> Load<T> of(IngestPlan plan, ReplicaGroups groups, RankBody<T> body) {
      return new Load<>(
          plan.shards(groups.ranks()),
          new PlannedLoader(plan, groups.width(), groups.members()),
          null,
          body);
    }
  }

  /** Gives each attempt what it does; what a former one loaded may be lost with its executors. */
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

  /**
   * @param profile what each rank needs of its executor
   * @param estimatedBytes of one copy of the data, for the preflight; 0 if not known
   * @param slotsWarning speaks where the ranks take all slots
   * @param stores resident stores of the application
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
  }

  /**
   * Runs the job until it succeeds, at most {@code spark.ddstore.maxAttempts} times.
   *
   * @param source asked before each attempt for what it does
   * @return the ranks' results in rank order
   * @throws IngestException if the data cannot be loaded: it would fail again
   * @throws NotUniformException if the schema has to be changed before it can be loaded
   * @throws StoreJobException if the last attempt failed
   */
  public <T> List<T> run(LoadSource<T> source) {
    StoreJobException last = null;
    for (int attempt = 1; ; attempt++) {
      checkCluster(last);
      JobWatch watch = new JobWatch(UUID.randomUUID().toString());
      try {
        Load<T> load = source.load(attempt);
        return submit(
            onProfile(load.rows(), profile),
            new RankRunner<>(
                load.loader(), settings, load.body(), groups, attempt, load.rowsToken()),
            watch);
      } catch (Exception e) {
        last = afterFailure(e, watch, attempt);
      } catch (Error e) {
        cancel(watch); // nobody waits for it any more
        throw e;
      } finally {
        session.sparkContext().removeSparkListener(watch);
      }
      LOG.warn("{}; submitting it again", last.getMessage());
    }
  }

  public static RDD<InternalRow> onProfile(RDD<InternalRow> rows, ResourceProfile profile) {
    boolean isDefault = profile.id() == ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID();
    return isDefault ? rows : rows.withResources(profile);
  }

  private void cancel(JobWatch watch) {
    SparkContext context = session.sparkContext();
    if (!context.isStopped()) {
      context.cancelJobsWithTag(watch.job());
    }
  }

  /** A cluster manager takes its time to replace an executor. */
  private Settings patient() {
    return settings.slotsTimeout().compareTo(REPLACEMENT) > 0
        ? settings
        : settings.withSlotsTimeout(REPLACEMENT);
  }

  private boolean isMpi() {
    return settings.transport().equals(TransportNames.MPI);
  }

  private void checkCluster(StoreJobException last) {
    SparkContext context = session.sparkContext();
    MpiWorlds worlds = MpiWorlds.of(context);
    try {
      if (isMpi()) {
        WorldReplacement.replace(context, worlds, stores);
      }
      ClusterFacts cluster =
          Preflight.check(
              context,
              profile,
              ranks,
              estimatedBytes,
              stores.memoryBytes(),
              last == null && !worlds.isRefilling() ? settings : patient());
      worlds.refilling(false);
      slotsWarning.look(ranks, cluster, context.getConf());
      AuthenticationWarning.look(context);
      if (isMpi()) {
        List<String> executors =
            cluster.executors().stream().map(ClusterFacts.Executor::id).toList();
        worlds.advice(executors, ranks).ifPresent(LOG::warn);
      }
    } catch (DDStoreException e) {
      if (last != null) {
        e.addSuppressed(last); // why there are fewer slots than before
      }
      throw e;
    }
  }

  private <T> List<T> submit(RDD<InternalRow> rows, RankRunner<T> runner, JobWatch watch) {
    SparkContext context = session.sparkContext();
    String interrupt = context.getLocalProperty(INTERRUPT_ON_CANCEL);
    try {
      context.addSparkListener(watch);
      context.setLocalProperty(INTERRUPT_ON_CANCEL, "true");
      context.setLocalProperty(JobWatch.JOB_PROPERTY, watch.job());
      context.addJobTag(watch.job());
      List<T> results = BarrierStage.run(rows, runner::run);
      if (isMpi()) {
        awaitListeners(context); // who has run what
        MpiWorlds.of(context).joined(watch.executors());
        stores.warnOfWorld(watch.executors());
      }
      return results;
    } finally {
      context.removeJobTag(watch.job());
      context.setLocalProperty(INTERRUPT_ON_CANCEL, interrupt);
      context.setLocalProperty(JobWatch.JOB_PROPERTY, null);
    }
  }

  /**
   * Waits for what a failed attempt leaves and cleans up.
   *
   * @return why the attempt failed, if the next one may succeed
   * @throws RuntimeException why it failed, if there is to be no other
   */
  private StoreJobException afterFailure(Exception e, JobWatch watch, int attempt) {
    SparkContext context = session.sparkContext();
    boolean interrupted = e instanceof InterruptedException;
    if (interrupted) {
      context.cancelJobsWithTag(watch.job()); // Spark lets it run on
    }
    awaitListeners(context);
    if (isMpi()) {
      noteWorld(watch);
    }
    RuntimeException failed = explain(e, watch, attempt);
    boolean again =
        !interrupted
            && failed instanceof StoreJobException
            && attempt < settings.maxAttempts()
            && !context.isStopped()
            && !isPermanent(e, watch);
    Collection<Integer> still = Set.of();
    try {
      if (isMpi()) {
        watch.awaitTasks(LAST_TASKS); // who can end does so before the executor is replaced
        replaceWorld(context, failed);
      }
      still = watch.awaitTasks(again ? TASKS_BEFORE_RESUBMISSION : LAST_TASKS);
    } catch (InterruptedException during) {
      interrupted = true;
    }
    sweep(failed);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (!still.isEmpty()) {
      failed.addSuppressed(
          new DDStoreException(
              "the tasks of ranks %s have not ended since: not submitted again".formatted(still)));
    }
    if (!again || interrupted || !still.isEmpty()) {
      throw failed;
    }
    return (StoreJobException) failed;
  }

  private boolean needsFreshWorld(JobWatch watch) {
    return isMpi() && watch.needsFreshWorld();
  }

  private void noteWorld(JobWatch watch) {
    MpiWorlds worlds = MpiWorlds.of(session.sparkContext());
    if (watch.needsFreshWorld()) {
      worlds.condemn(watch.executors());
    } else if (!watch.hasFailedBeforeMeeting()) {
      worlds.tried(watch.executors());
    }
  }

  /**
   * Who lives of a world that was lost holds its memory, whether another attempt comes or not; who
   * was stopped does not end by itself.
   */
  private void replaceWorld(SparkContext context, RuntimeException failed) {
    if (context.isStopped()) {
      return;
    }
    try {
      WorldReplacement.replace(context, MpiWorlds.of(context), stores);
    } catch (DDStoreException e) {
      failed.addSuppressed(e);
    }
  }

  /** Task failures reach listeners a moment after the job's. */
  static void awaitListeners(SparkContext context) {
    boolean interrupted = Thread.interrupted();
    try {
      context.listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
    } catch (TimeoutException e) {
      LOG.warn("the reasons of a failed job may be incomplete: {}", e.getMessage());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** What killed executors of this host left, if the next attempt is not there to do it. */
  private void sweep(RuntimeException failed) {
    try {
      settings.segmentDirectory().ifPresent(ProcessDirectory::sweepDead);
      ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);
    } catch (DDStoreException e) {
      failed.addSuppressed(e);
    }
  }

  static boolean isCancelled(Exception e) {
    return CANCELLED.matcher(String.valueOf(e.getMessage())).matches();
  }

  /** True if somebody wants no other attempt, or it would fail like this one. */
  private static boolean isPermanent(Exception e, JobWatch watch) {
    String message = String.valueOf(e.getMessage());
    return CANCELLED.matcher(message).matches()
        || message.contains("spark.driver.maxResultSize")
        || RetryPolicy.isPermanent(watch.first().map(JobWatch.Failure::cause).orElse(e))
        || watch.first().map(BarrierJob::isUnsendable).orElse(false);
  }

  private static boolean isUnsendable(JobWatch.Failure failure) {
    return failure.thrown().equals(NotSerializableException.class.getName());
  }

  private RuntimeException explain(Exception e, JobWatch watch, int attempt) {
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
        "attempt %d of %d on %d ranks %s%s%s"
            .formatted(
                attempt,
                settings.maxAttempts(),
                ranks,
                reason(e, first),
                RetryPolicy.isPermanent(cause == null ? e : cause) ? NO_OTHER : "",
                needsFreshWorld(watch) ? FRESH_WORLD : ""),
        cause == null ? e : cause);
  }

  private static String reason(Exception e, Optional<JobWatch.Failure> first) {
    String message = String.valueOf(e.getMessage());
    if (e instanceof InterruptedException) {
      return "was cancelled: the thread that waited for it was interrupted";
    }
    if (CANCELLED.matcher(message).matches()) {
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
