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
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.cluster.Preflight;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.config.TransportNames;
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
 * How a DataFrame becomes a store: which columns in which types, in what order, on how many ranks,
 * in what memory. Immutable; every method that changes something gives a changed copy. What a
 * builder method says counts before the {@code spark.ddstore.*} setting of the session, and that
 * before the default (docs/settings.md).
 *
 * <p>The order of rows never depends on the number of ranks, cores or partitions: rows of files
 * follow the file path and the row's place in its file; {@link #orderBy} and {@link #shuffle} give
 * other orders. Rank r of n holds the rows [r * N / n, (r + 1) * N / n).
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

  /** The spec by which a store was loaded, for the rows of the origin. */
  static StoreSpec of(ResidentOrigin origin) {
    return new StoreSpec(origin.rows(), origin.ingest(), origin.settings(), origin.profile());
  }

  private StoreSpec with(UnaryOperator<IngestOptions> change) {
    return new StoreSpec(rows, change.apply(ingest), settings, profile);
  }

  private StoreSpec set(Function<Settings, Settings> change) {
    return new StoreSpec(rows, ingest, change.apply(settings), profile);
  }

  /** The number of ranks, at least 1 and at most the slots; all slots unless said. */
  public StoreSpec ranks(int ranks) {
    return set(s -> s.withRanks(ranks));
  }

  /**
   * How many consecutive ranks hold one full copy of the data: a replica group. Reads stay inside
   * the group of the rank that reads. All ranks unless said.
   *
   * @param width divides the number of ranks
   */
  public StoreSpec width(int width) {
    return set(s -> s.withWidth(width));
  }

  /**
   * How rows are read that memory does not reach.
   *
   * @param name {@code tcp}, {@code fabric}, {@code mpi} (resident stores take {@code tcp} then),
   *     or {@code auto} for the best that there is
   */
  public StoreSpec transport(String name) {
    Objects.requireNonNull(name, "name is null");
    return set(s -> s.withTransport(name));
  }

  /**
   * Whether rows of the own process and the own host are read by memory, as unless said, or over
   * the transport like those of other hosts.
   */
  public StoreSpec shortcut(boolean shortcut) {
    return set(s -> s.withShortcut(shortcut));
  }

  /**
   * How long a batch may take whose rows come over the transport, and how long a read waits for
   * rows that {@code epochBegin} changes, wherever they are.
   */
  public StoreSpec readTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.withReadTimeout(timeout));
  }

  /** How long a rank that has ended its task serves its rows to ranks that have not. */
  public StoreSpec finishTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.withFinishTimeout(timeout));
  }

  /**
   * What each rank needs of its executor: cpus, or accelerators. Spark's own settings unless said;
   * Spark takes a profile on clusters, not in {@code local} mode.
   */
  public StoreSpec resources(ResourceProfile ofEachRank) {
    Objects.requireNonNull(ofEachRank, "ofEachRank is null");
    context().resourceProfileManager().addResourceProfile(ofEachRank);
    return new StoreSpec(rows, ingest, settings, ofEachRank);
  }

  /** See {@link IngestOptions#withColumns}. */
  public StoreSpec columns(String... names) {
    Objects.requireNonNull(names, "names is null");
    for (Object element : names) {
      Objects.requireNonNull(element, "an element of names is null");
    }
    return with(i -> i.withColumns(names));
  }

  /** Declares type and fixed shape of a column's field; see {@link IngestOptions#withField}. */
  public StoreSpec field(String column, DType dtype, int... shape) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(shape, "shape is null");
    return with(i -> i.withField(column, dtype, shape));
  }

  /** Declares a column of arrays to be ragged; see {@link IngestOptions#withRagged}. */
  public StoreSpec raggedField(String column, DType dtype, int... innerShape) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(innerShape, "innerShape is null");
    return with(i -> i.withRagged(column, dtype, innerShape));
  }

  /** Puts a value in the place of nulls; see {@link IngestOptions#withFilledNulls}. */
  public StoreSpec fillNulls(String column, Serializable value) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(value, "value is null");
    return with(i -> i.withFilledNulls(column, value));
  }

  /** Pads arrays that are shorter than their declared shape. */
  public StoreSpec pad(String column, Number value) {
    Objects.requireNonNull(column, "column is null");
    Objects.requireNonNull(value, "value is null");
    return with(i -> i.withPadding(column, value));
  }

  /** Cuts arrays that are longer than their declared shape. */
  public StoreSpec truncate(String column) {
    Objects.requireNonNull(column, "column is null");
    return with(i -> i.withTruncation(column));
  }

  /** Names remedies in messages as the caller knows them, by default as methods of this class. */
  @Internal
  public StoreSpec wording(Wording words) {
    return with(i -> i.withWording(words));
  }

  /** Orders the rows by columns, ascending, ties by their place in the source. */
  public StoreSpec orderBy(String... columns) {
    Objects.requireNonNull(columns, "columns is null");
    for (Object element : columns) {
      Objects.requireNonNull(element, "an element of columns is null");
    }
    return with(i -> i.withOrderBy(columns));
  }

  /** Shuffles the rows at the load: the same order for the same seed and source. */
  public StoreSpec shuffle(long seed) {
    return with(i -> i.withShuffle(seed));
  }

  /** Where the shards lie: {@code SHM} or {@code DIRECT}; for files see {@link #files}. */
  public StoreSpec backing(Backing backing) {
    Objects.requireNonNull(backing, "backing is null");
    return set(s -> s.withBacking(backing));
  }

  /** Keeps the shards in mapped files under a directory that every executor has. */
  public StoreSpec files(Path directory) {
    Objects.requireNonNull(directory, "directory is null");
    return set(s -> s.withBacking(Backing.FILE).withDirectory(directory));
  }

  /** How often the job is submitted before it fails, the first time included. */
  public StoreSpec maxAttempts(int attempts) {
    return set(s -> s.withMaxAttempts(attempts));
  }

  /** Keeps the shards in shared memory under another mount than /dev/shm. */
  public StoreSpec sharedMemory(Path directory) {
    Objects.requireNonNull(directory, "directory is null");
    return set(s -> s.withBacking(Backing.SHM).withDirectory(directory));
  }

  /** Loads although the shards seem not to fit into the memory that is there. */
  public StoreSpec withoutMemoryCheck() {
    return set(s -> s.withCheckMemory(false));
  }

  /** How long a close waits for reads in flight. */
  public StoreSpec closeTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.withCloseTimeout(timeout));
  }

  /** How long a start waits for executors to register before it says that slots are missing. */
  public StoreSpec slotsTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.withSlotsTimeout(timeout));
  }

  /** How long a rank waits for the others in a collective call. */
  public StoreSpec collectiveTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    return set(s -> s.withCollectiveTimeout(timeout));
  }

  /**
   * Loads the rows, runs {@code task} on every rank beside its shard, and drops the store: one
   * barrier stage. Blocks until all ranks have ended. A failed job is submitted again, {@code
   * spark.ddstore.maxAttempts} times at most.
   *
   * @return the ranks' results in rank order
   * @throws IllegalArgumentException at once, if the task cannot be sent to executors
   * @throws PreflightException at once, if the cluster cannot run it; it says what is missing
   * @throws org.ddstore.spark.types.IngestException if the data do not fit; it names column and row
   * @throws StoreJobException if the last attempt failed, or one that another attempt cannot mend;
   *     its cause is what a rank threw, or what Spark threw when it planned the rows
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
   * Loads the rows and leaves them in the executors, under a name: one barrier stage. Blocks; waits
   * first while another thread writes a store of this name, {@code spark.ddstore.writeTimeout} at
   * most.
   *
   * @param name 1 to 128 letters, digits, {@code _} and {@code -}; free in this application
   * @throws IllegalArgumentException if the name is not legal, or taken
   * @throws PreflightException if the cluster cannot load it; it says what is missing. At once, or
   *     when executors that were there have not been replaced within two minutes
   * @throws org.ddstore.spark.types.IngestException if the data do not fit; it names column and row
   * @throws StoreJobException if the last attempt failed, or one that another attempt cannot mend;
   *     its cause is what a rank threw, or what Spark threw when it planned the rows
   * @throws org.ddstore.types.DDStoreException if an executor has loaded its rows and does not
   *     answer
   */
  public ResidentStore load(String name) {
    return load(name, false);
  }

  /**
   * As {@link #load}, in the place of the store of this name if there is one, which is dropped when
   * the new one stands: there must be memory for both. If the load fails, the old one stays. Other
   * threads that write the store wait, so no rows are lost that they have added while this loads.
   *
   * @throws IllegalArgumentException if the name is not legal
   * @throws StoreChangedException if the rows come from Spark's cache, which holds rows of the
   *     store from before another write
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
    boolean isMpi = settings.transport().equals(TransportNames.MPI);
    if (isMpi) {
      LOG.warn("{}: {}", name, ResidentStore.NO_MPI);
    }
    ResidentOrigin origin =
        new ResidentOrigin(
            rows,
            ingest,
            isMpi ? settings.withTransport("tcp") : settings,
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

  /** Spark would say so after the rows have been planned, and in a hundred lines. */
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
   * What {@link #run} would do: rows and bytes per rank and executor, the memory that needs and
   * that is there, how each pair of ranks will read and why. Starts the ranks without loading the
   * rows.
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
