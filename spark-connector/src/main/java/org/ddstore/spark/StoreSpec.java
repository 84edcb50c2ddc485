package org.ddstore.spark;

import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.backend.TransportBackends;
import org.ddstore.spark.cluster.Preflight;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.Wording;
import org.ddstore.spark.job.BarrierJob;
import org.ddstore.spark.job.Plans;
import org.ddstore.spark.resident.ResidentOrigin;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.StoreChangedException;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Internal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The specification of a store of a DataFrame: columns and their types, row order, number of ranks
 * and memory. Immutable: every builder method returns a changed copy. A builder method takes
 * precedence over the {@code spark.ddstore.*} setting of the session, which takes precedence over
 * the default (docs/settings.md).
 *
 * <p>The row order never depends on the number of ranks, cores or partitions: rows of files are
 * ordered by file path, then by position in the file. {@link #orderBy} and {@link #shuffle} define
 * other orders. Rank r of n holds the rows [r * N / n, (r + 1) * N / n) of N.
 */
public final class StoreSpec {
  /** The largest number of ranks, and of ranks of a replica group. */
  public static final int MAX_RANKS = ReplicaGroups.MAX_RANKS;

  private static final Logger LOG = LoggerFactory.getLogger(StoreSpec.class);

  private final Dataset<Row> rows;
  private final IngestOptions ingest;
  private final Settings settings;
  private final ResourceProfile profile;

  private StoreSpec(
      Dataset<Row> rows, IngestOptions ingest, Settings settings, ResourceProfile profile) {
    this.rows = rows;
    this.ingest = ingest;
    this.settings = settings;
    this.profile = profile;
  }

  static StoreSpec of(Dataset<Row> rows) {
    SparkContext context = rows.sparkSession().sparkContext();
    return new StoreSpec(
        rows,
        IngestOptions.defaults(),
        Settings.of(rows.sparkSession()),
        context.resourceProfileManager().defaultResourceProfile());
  }

  /** Returns the specification by which a store was loaded, for the rows of the origin. */
  static StoreSpec of(ResidentOrigin origin) {
    return new StoreSpec(origin.rows(), origin.ingest(), origin.settings(), origin.profile());
  }

  private StoreSpec with(UnaryOperator<IngestOptions> change) {
    return new StoreSpec(rows, change.apply(ingest), settings, profile);
  }

  private StoreSpec set(Function<Settings, Settings> change) {
    return new StoreSpec(rows, ingest, change.apply(settings), profile);
  }

  /** Sets the number of ranks, from 1 to the number of slots; all slots by default. */
  public StoreSpec ranks(int ranks) {
    return set(s -> s.ranks(ranks));
  }

  /**
   * Sets the width of a replica group: the number of consecutive ranks that together hold one full
   * copy of the data. Each rank reads only from its own group. By default, all ranks form one
   * group.
   *
   * @param width a divisor of the number of ranks
   */
  public StoreSpec width(int width) {
    return set(s -> s.width(width));
  }

  /**
   * Sets the transport that reads rows outside of shared memory.
   *
   * @param name name of a transport, or {@code auto} for the best one that all ranks can use; the
   *     names are the legal values of {@code spark.ddstore.transport}
   */
  public StoreSpec transport(String name) {
    Objects.requireNonNull(name, "name is null");
    return set(s -> s.transport(name));
  }

  /**
   * Sets whether rows of the same process and host are read by memory. True by default; if false,
   * they are read over the transport like rows of other hosts.
   */
  public StoreSpec shortcut(boolean shortcut) {
    return set(s -> s.shortcut(shortcut));
  }

  /**
   * Sets the maximum time of a batch whose rows come over the transport, and the maximum time that
   * a read waits for rows that {@code epochBegin} changes, wherever they are.
   */
  public StoreSpec readTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.readTimeout(timeout));
  }

  /** Sets how long a rank whose task has ended serves its rows to ranks that still run. */
  public StoreSpec finishTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.finishTimeout(timeout));
  }

  /**
   * Sets the resources that each rank needs of its executor, such as CPUs and accelerators. By
   * default, Spark's own settings apply. Spark accepts a profile on clusters, not in {@code local}
   * mode.
   *
   * @param profile resources of one rank
   */
  public StoreSpec resources(ResourceProfile profile) {
    Objects.requireNonNull(profile, "profile is null");
    context().resourceProfileManager().addResourceProfile(profile);
    return new StoreSpec(rows, ingest, settings, profile);
  }

  /** Selects the columns to store; see {@link IngestOptions#columns}. */
  public StoreSpec columns(String... names) {
    Objects.requireNonNull(names, "names is null");
    for (Object element : names) {
      Objects.requireNonNull(element, "an element of names is null");
    }
    return with(i -> i.columns(names));
  }

  /** Declares the type and fixed shape of a column's field; see {@link IngestOptions#field}. */
  public StoreSpec field(String column, DType dtype, int... shape) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(shape, "shape is null");
    return with(i -> i.field(column, dtype, shape));
  }

  /** Declares a column of arrays as ragged; see {@link IngestOptions#raggedField}. */
  public StoreSpec raggedField(String column, DType dtype, int... innerShape) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(innerShape, "innerShape is null");
    return with(i -> i.raggedField(column, dtype, innerShape));
  }

  /** Replaces nulls by a value; see {@link IngestOptions#fillNulls}. */
  public StoreSpec fillNulls(String column, Serializable value) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(value, "value is null");
    return with(i -> i.fillNulls(column, value));
  }

  /** Pads arrays that are shorter than their declared shape with a value. */
  public StoreSpec pad(String column, Number value) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(value, "value is null");
    return with(i -> i.pad(column, value));
  }

  /** Truncates arrays that are longer than their declared shape. */
  public StoreSpec truncate(String column) {
    Objects.requireNonNull(column, "column is null");
    return with(i -> i.truncate(column));
  }

  /** Sets the terms in which messages name remedies, by default the methods of this class. */
  @Internal
  public StoreSpec wording(Wording wording) {
    Objects.requireNonNull(wording, "wording is null");
    return with(i -> i.wording(wording));
  }

  /** Orders the rows by columns, ascending; ties keep their order in the source. */
  public StoreSpec orderBy(String... columns) {
    Objects.requireNonNull(columns, "columns is null");
    for (Object element : columns) {
      Objects.requireNonNull(element, "an element of columns is null");
    }
    return with(i -> i.orderBy(columns));
  }

  /** Shuffles the rows at load; the same seed and source give the same order. */
  public StoreSpec shuffle(long seed) {
    return with(i -> i.shuffle(seed));
  }

  /** Sets the memory of the shards: {@code SHM} or {@code DIRECT}; for files see {@link #files}. */
  public StoreSpec backing(Backing backing) {
    Objects.requireNonNull(backing, "backing is null");
    return set(s -> s.backing(backing));
  }

  /** Keeps the shards in mapped files, under a directory that exists on every executor. */
  public StoreSpec files(Path directory) {
    Objects.requireNonNull(directory, "directory is null");
    return set(s -> s.backing(Backing.FILE).directory(directory));
  }

  /** Sets the maximum number of submissions of the job, including the first. */
  public StoreSpec maxAttempts(int attempts) {
    return set(s -> s.maxAttempts(attempts));
  }

  /** Keeps the shards in shared memory under a mount other than /dev/shm. */
  public StoreSpec sharedMemory(Path directory) {
    Objects.requireNonNull(directory, "directory is null");
    return set(s -> s.backing(Backing.SHM).directory(directory));
  }

  /**
   * Sets whether a load fails early where the shards exceed the available memory; the default is
   * true.
   */
  public StoreSpec checkMemory(boolean check) {
    return set(s -> s.checkMemory(check));
  }

  /** Sets how long a close waits for reads in flight. */
  public StoreSpec closeTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.closeTimeout(timeout));
  }

  /** Sets how long a start waits for executors to register before it fails for lack of slots. */
  public StoreSpec slotsTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.slotsTimeout(timeout));
  }

  /** Sets how long a rank waits for the others in a collective call. */
  public StoreSpec collectiveTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.collectiveTimeout(timeout));
  }

  /**
   * Loads the rows, runs a task on every rank beside its shard, and drops the store, all in one
   * barrier stage. Blocks until all ranks have ended. Submits a failed job again, up to {@code
   * spark.ddstore.maxAttempts} submissions in total.
   *
   * @param task a serializable task
   * @return the results of all ranks, in rank order
   * @throws IllegalArgumentException immediately, if the task is not serializable
   * @throws PreflightException immediately, if the cluster cannot run the job; it lists what is
   *     missing
   * @throws org.ddstore.spark.types.IngestException if a value does not fit its field; it names
   *     column and row
   * @throws StoreJobException if the last attempt failed, or a failure is permanent; its cause is
   *     the exception of a rank, or of Spark when it planned the rows
   */
  public <T> List<T> run(RankTask<T> task) {
    checkSerializable(task);
    int ranks = Preflight.ranks(context(), profile, settings);
    ReplicaGroups groups = settings.groups(ranks);
    Preflight.check(context(), profile, ranks, 0, Map.of(), settings);
    SlotsWarning slotsWarning = SlotsWarning.ofJob();
    try (Plans plans =
        new Plans(
            context(), settings.maxAttempts(), () -> IngestPlan.of(rows, ingest, groups.width()))) {
      return plans.load(
          () ->
              new BarrierJob(
                      session(),
                      profile,
                      settings,
                      groups,
                      plans.current().memoryBytes() * groups.groups(),
                      slotsWarning,
                      ResidentStores.of(context()))
                  .run(
                      attempt ->
                          BarrierJob.Load.of(
                              plans.forAttempt(attempt), groups, new TaskBody<>(task))));
    }
  }

  /**
   * Loads the rows in one barrier stage and keeps them in the executors, under a name. Blocks.
   * First waits while another thread writes a store of this name, for at most {@code
   * spark.ddstore.writeTimeout}.
   *
   * @param name 1 to 128 letters, digits, {@code _} and {@code -}, unused in this application
   * @throws IllegalArgumentException if the name is illegal or in use
   * @throws PreflightException if the cluster cannot load the store; it lists what is missing.
   *     Thrown immediately, or after lost executors have not been replaced for two minutes
   * @throws org.ddstore.spark.types.IngestException if a value does not fit its field; it names
   *     column and row
   * @throws StoreJobException if the last attempt failed, or a failure is permanent; its cause is
   *     the exception of a rank, or of Spark when it planned the rows
   * @throws org.ddstore.types.DDStoreException if an executor that has loaded its rows does not
   *     answer
   */
  public ResidentStore load(String name) {
    return load(name, false);
  }

  /**
   * Loads the rows like {@link #load(String)} and replaces the store of this name, if it exists.
   * The old store is dropped after the new one is complete, so memory must suffice for both. If the
   * load fails, the old store remains. Other writers of the store wait meanwhile, so the
   * replacement loses no rows that they add.
   *
   * @param name 1 to 128 letters, digits, {@code _} and {@code -}
   * @throws IllegalArgumentException if the name is illegal
   * @throws StoreChangedException if the rows come from Spark's cache and it holds rows of the
   *     store from before a later write
   * @throws PreflightException as for {@link #load}
   * @throws org.ddstore.spark.types.IngestException as for {@link #load}
   * @throws StoreJobException as for {@link #load}
   * @throws org.ddstore.types.DDStoreException as for {@link #load}
   */
  public ResidentStore replace(String name) {
    return load(name, true);
  }

  private ResidentStore load(String name, boolean inPlace) {
    Objects.requireNonNull(name, "name is null");
    Optional<String> otherTransport = TransportBackends.residentWarning(settings.transport());
    otherTransport.ifPresent(warning -> LOG.warn("{}: {}", name, warning));
    ResidentOrigin origin =
        new ResidentOrigin(
            rows,
            ingest,
            otherTransport.isEmpty() ? settings : settings.transport(TransportBackends.base()),
            profile,
            SlotsWarning.ofStore(name),
            ResidentStores.of(context()));
    SqlCatalog.register(session());
    return ResidentStores.of(context())
        .load(
            name,
            settings.writeTimeout(),
            inPlace,
            stores -> {
              stores.find(name).ifPresent(there -> QueriedStores.check(rows, there));
              return ResidentStore.load(stores, name, origin);
            });
  }

  /** Checks early: Spark reports it after the rows have been planned, in a hundred lines. */
  static void checkSerializable(RankTask<?> task) {
    Objects.requireNonNull(task, "task is null");
    try (ObjectOutputStream out = new ObjectOutputStream(OutputStream.nullOutputStream())) {
      out.writeObject(task);
    } catch (NotSerializableException e) {
      throw new IllegalArgumentException(
          "the task cannot be sent to the executors: it holds a %s, which is not serializable"
              .formatted(e.getMessage()),
          e);
    } catch (IOException e) {
      throw new IllegalArgumentException("the task cannot be sent to the executors: " + e, e);
    }
  }

  /**
   * Predicts what {@link #run} would do: rows and bytes per rank and executor, required and
   * available memory, and the read path between each pair of ranks with its reason. Starts the
   * ranks without loading the rows.
   */
  public Explanation explain() {
    int ranks = Preflight.ranks(context(), profile, settings);
    ReplicaGroups groups = settings.groups(ranks);
    Preflight.check(context(), profile, ranks, 0, Map.of(), settings);
    try (IngestPlan plan = Plans.readingAll(() -> IngestPlan.of(rows, ingest, groups.width()))) {
      return Explanation.of(session(), profile, settings, plan, ranks);
    }
  }

  private SparkSession session() {
    return rows.sparkSession();
  }

  private SparkContext context() {
    return session().sparkContext();
  }

  @Override
  public String toString() {
    return "StoreSpec[%s, %s]".formatted(ingest, settings);
  }
}
