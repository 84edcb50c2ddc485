// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static java.util.Objects.requireNonNull;

import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.Wording;
import org.ddstore.spark.resident.ResidentOrigin;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.StoreChangedException;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Internal;

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
        IngestOptions.declaredBy(rows.schema()),
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

  private StoreSpec set(Setting setting, Object value) {
    return new StoreSpec(rows, ingest, settings.with(setting, value), profile);
  }

  /**
   * {@return a copy with a number of ranks; all slots by default}
   *
   * @param ranks number of ranks, from 1 to the number of slots
   */
  public StoreSpec ranks(int ranks) {
    return set(Setting.RANKS, ranks);
  }

  /**
   * {@return a copy with a width of replica groups: the number of consecutive ranks that together
   * hold one full copy of the data and read only from each other; all ranks by default}
   *
   * @param width a divisor of the number of ranks
   */
  public StoreSpec width(int width) {
    return set(Setting.WIDTH, width);
  }

  /**
   * {@return a copy with a transport of the rows outside of shared memory}
   *
   * @param name name of a transport, or {@code auto} for the best one that all ranks can use; the
   *     names are the legal values of {@code spark.ddstore.transport}
   */
  public StoreSpec transport(String name) {
    return set(Setting.TRANSPORT, requireNonNull(name, "name is null"));
  }

  /**
   * {@return a copy in which rows of the same process and host are read by memory (true, the
   * default), or over the transport like rows of other hosts}
   *
   * @param shortcut false to read all rows over the transport
   */
  public StoreSpec shortcut(boolean shortcut) {
    return set(Setting.SHORTCUT, shortcut);
  }

  /**
   * {@return a copy with a maximum time of a batch whose rows come over the transport, and of the
   * wait for rows that {@code epochBegin} changes}
   *
   * @param timeout maximum time, above 0
   */
  public StoreSpec readTimeout(Duration timeout) {
    return set(Setting.READ_TIMEOUT, requireNonNull(timeout, "timeout is null"));
  }

  /**
   * {@return a copy with a maximum time that a rank whose task has ended serves its rows to others}
   *
   * @param timeout maximum time, above 0
   */
  public StoreSpec finishTimeout(Duration timeout) {
    return set(Setting.FINISH_TIMEOUT, requireNonNull(timeout, "timeout is null"));
  }

  /**
   * {@return a copy with the resources that each rank needs of its executor; Spark's own settings
   * by default. Spark accepts a profile on clusters, not in {@code local} mode}
   *
   * @param profile resources of one rank
   */
  public StoreSpec resources(ResourceProfile profile) {
    requireNonNull(profile, "profile is null");
    rows.sparkSession().sparkContext().resourceProfileManager().addResourceProfile(profile);
    return new StoreSpec(rows, ingest, settings, profile);
  }

  /**
   * {@return a copy that stores these columns; see {@link IngestOptions#columns}}
   *
   * @param names names of columns; a struct stands for all its fields
   */
  public StoreSpec columns(String... names) {
    return with(i -> i.columns(names));
  }

  /**
   * {@return a copy that declares a column's type and fixed shape; see {@link IngestOptions#field}}
   *
   * @param column name of a column; {@code a.b} for a column inside a struct
   * @param dtype element type of the field
   * @param shape dimensions; none for a scalar
   */
  public StoreSpec field(String column, DType dtype, int... shape) {
    return with(i -> i.field(column, dtype, shape));
  }

  /**
   * {@return a copy that declares a column of arrays as ragged; see {@link
   * IngestOptions#raggedField}}
   *
   * @param column name of a column; {@code a.b} for a column inside a struct
   * @param dtype element type of the field
   * @param innerShape dimensions after the first; none for numbers
   */
  public StoreSpec raggedField(String column, DType dtype, int... innerShape) {
    return with(i -> i.raggedField(column, dtype, innerShape));
  }

  /**
   * {@return a copy that replaces nulls by a value; see {@link IngestOptions#fillNulls}}
   *
   * @param column name of a column; {@code a.b} for a column inside a struct
   * @param value number, boolean, string or {@code byte[]} that fits the column's type
   */
  public StoreSpec fillNulls(String column, Serializable value) {
    return with(i -> i.fillNulls(column, value));
  }

  /**
   * {@return a copy that pads arrays that are shorter than their declared shape}
   *
   * @param column name of a column; {@code a.b} for a column inside a struct
   * @param value value of the added elements
   */
  public StoreSpec pad(String column, Number value) {
    return with(i -> i.pad(column, value));
  }

  /**
   * {@return a copy that truncates arrays that are longer than their declared shape}
   *
   * @param column name of a column; {@code a.b} for a column inside a struct
   */
  public StoreSpec truncate(String column) {
    return with(i -> i.truncate(column));
  }

  /**
   * {@return a copy that stores decimals in a form; see {@link IngestOptions#decimals}}
   *
   * @param form form in which decimals are stored
   * @param columns names of columns; without any, all decimal columns that are not named elsewhere
   */
  public StoreSpec decimals(DecimalForm form, String... columns) {
    return with(i -> i.decimals(form, columns));
  }

  /**
   * {@return a copy with terms in which messages name remedies, by default these methods}
   *
   * @param wording terms of the messages
   */
  @Internal
  public StoreSpec wording(Wording wording) {
    return with(i -> i.wording(wording));
  }

  /**
   * {@return a copy that orders the rows by columns, ascending; ties keep the order of the source}
   *
   * @param columns names of columns
   */
  public StoreSpec orderBy(String... columns) {
    return with(i -> i.orderBy(columns));
  }

  /**
   * {@return a copy that shuffles the rows at load; the same seed and source give the same order}
   *
   * @param seed seed of the order; any number
   */
  public StoreSpec shuffle(long seed) {
    return with(i -> i.shuffle(seed));
  }

  /**
   * {@return a copy with another memory of the shards; for files see {@link #files}}
   *
   * @param backing {@code SHM} or {@code DIRECT}
   */
  public StoreSpec backing(Backing backing) {
    return set(Setting.BACKING, requireNonNull(backing, "backing is null"));
  }

  /**
   * {@return a copy that keeps the shards in mapped files}
   *
   * @param directory absolute path of a directory that exists on every executor
   */
  public StoreSpec files(Path directory) {
    requireNonNull(directory, "directory is null");
    return set(Setting.BACKING, Backing.FILE).set(Setting.DIRECTORY, directory);
  }

  /**
   * {@return a copy with a maximum number of submissions of the job, including the first}
   *
   * @param attempts number of submissions, from 1 to 1,000
   */
  public StoreSpec maxAttempts(int attempts) {
    return set(Setting.MAX_ATTEMPTS, attempts);
  }

  /**
   * {@return a copy that keeps the shards in shared memory under a mount other than /dev/shm}
   *
   * @param directory absolute path of a directory that exists on every executor
   */
  public StoreSpec sharedMemory(Path directory) {
    requireNonNull(directory, "directory is null");
    return set(Setting.BACKING, Backing.SHM).set(Setting.DIRECTORY, directory);
  }

  /**
   * {@return a copy in which a load fails early if the shards exceed the memory (the default)}
   *
   * @param check false to load without the check
   */
  public StoreSpec checkMemory(boolean check) {
    return set(Setting.CHECK_MEMORY, check);
  }

  /**
   * {@return a copy with a maximum time that a close waits for reads in flight}
   *
   * @param timeout maximum time, above 0
   */
  public StoreSpec closeTimeout(Duration timeout) {
    return set(Setting.CLOSE_TIMEOUT, requireNonNull(timeout, "timeout is null"));
  }

  /**
   * {@return a copy with a maximum time that a start waits for the slots of executors}
   *
   * @param timeout maximum time, above 0
   */
  public StoreSpec slotsTimeout(Duration timeout) {
    return set(Setting.SLOTS_TIMEOUT, requireNonNull(timeout, "timeout is null"));
  }

  /**
   * {@return a copy with a maximum time that a rank waits for the others in a collective call}
   *
   * @param timeout maximum time, above 0
   */
  public StoreSpec collectiveTimeout(Duration timeout) {
    return set(Setting.COLLECTIVE_TIMEOUT, requireNonNull(timeout, "timeout is null"));
  }

  /**
   * Loads the rows, runs a task on every rank beside its shard, and drops the store, all in one
   * barrier stage. Blocks. Submits a job at most {@code spark.ddstore.maxAttempts} times.
   *
   * @param <T> type of the results
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
    UserTaskBody.checkSerializable(task);
    return launcher().run(task);
  }

  /**
   * Loads the rows in one barrier stage and keeps them in the executors, under a name. Blocks.
   * First waits while another thread writes a store of this name, for at most {@code
   * spark.ddstore.writeTimeout}.
   *
   * @param name 1 to 128 letters, digits, {@code _} and {@code -}, unused in this application
   * @return the store
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
    requireNonNull(name, "name is null");
    return launcher().load(name, false);
  }

  /**
   * Loads the rows like {@link #load(String)} and replaces the store of this name, if it exists.
   * The old store is dropped after the new one is complete, so memory must suffice for both. If the
   * load fails, the old store remains. Other writers of the store wait meanwhile, so the
   * replacement loses no rows that they add.
   *
   * @param name 1 to 128 letters, digits, {@code _} and {@code -}
   * @return the new store
   * @throws IllegalArgumentException if the name is illegal
   * @throws StoreChangedException if the rows come from Spark's cache and it holds rows of the
   *     store from before a later write
   */
  public ResidentStore replace(String name) {
    requireNonNull(name, "name is null");
    return launcher().load(name, true);
  }

  /**
   * Predicts what {@link #run} would do: rows and bytes per rank and executor, required and
   * available memory, and the read path between each pair of ranks with its reason. Starts the
   * ranks without loading the rows.
   *
   * @return the prediction; its {@code toString} is readable text
   */
  public Explanation explain() {
    return launcher().explain();
  }

  private StoreLauncher launcher() {
    return new StoreLauncher(rows, ingest, settings, profile);
  }

  /** Returns one line: the columns, and the options and settings that are not default. */
  @Override
  public String toString() {
    return "StoreSpec[%s]".formatted(launcher());
  }
}
