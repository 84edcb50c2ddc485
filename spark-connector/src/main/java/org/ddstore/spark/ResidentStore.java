// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.backend.SharedLoss;
import org.ddstore.spark.cluster.ClassicSpark;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.resident.AppendPlan;
import org.ddstore.spark.resident.ExecutorReports;
import org.ddstore.spark.resident.ResidentChanges;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ResidentOrigin;
import org.ddstore.spark.resident.ResidentProcesses;
import org.ddstore.spark.resident.ResidentReads;
import org.ddstore.spark.resident.StoreEvents;
import org.ddstore.spark.resident.StoreGrants;
import org.ddstore.spark.resident.StoreMetrics;
import org.ddstore.spark.resident.StoreSnapshot;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.DumpInfo;
import org.ddstore.spark.types.DumpMode;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.RebuildDiffersException;
import org.ddstore.spark.types.StoreGrant;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.spark.types.StoreStatistics;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store whose shards stay in the executors between jobs, under a name that is unique in the
 * application. Its rows never change; {@link #append} adds rows at the end. It lives until {@link
 * #drop()} or the end of the application. Used on the driver. Thread-safe.
 */
public final class ResidentStore extends StoreFacts {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentStore.class);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);

  /** Time that a drop waits for the last reports of executors. */
  private static final Duration LAST_REPORT_LIMIT = Duration.ofSeconds(1);

  private final ResidentStores stores;
  private final StoreToken token;
  private final ResidentProcesses processes;
  private final ResidentChanges changes;
  private final FollowedHandles followed = new FollowedHandles();
  private final StoreGrants grants;
  private final AtomicBoolean warned = new AtomicBoolean();
  private final ResidentReads reads;
  private final ExecutorReports reports;
  private final ResidentRunner runner;

  ResidentStore(
      ResidentStores stores,
      String name,
      ResidentOrigin origin,
      StoreToken token,
      StructType sourceSchema,
      List<ColumnMapping> columns,
      ResidentProcesses processes,
      ResidentLayout layout) {
    super(name, origin, sourceSchema, columns, layout);
    this.stores = stores;
    this.token = token;
    this.processes = processes;
    this.changes = new ResidentChanges(name, origin, token, processes, places(), this::snapshot);
    this.grants = new StoreGrants(token, processes, events());
    this.changes.whenChanged(followed::update);
    this.reads = new ResidentReads(layout.groups().ranks());
    this.reports = new ExecutorReports(token.id(), name, places(), processes);
    this.runner = new ResidentRunner(name, origin, token, places(), changes, reads, this::snapshot);
  }

  /** Adds the metrics of the store to those of the driver; {@link #end} removes them. */
  void showMetrics() {
    StoreMetrics.show(snapshot(places().now()), reads);
  }

  /**
   * {@return a handle by which ordinary tasks, UDFs and the driver attach to the store}
   *
   * @throws IllegalStateException if the store has been dropped
   */
  public StoreHandle handle() {
    return new StoreHandle(
        snapshot(places().now()), new Source(StoreHandle.LABEL, ReadClaims.NEVER));
  }

  /**
   * Makes a handle with which processes outside of the application can read all rows, until a time.
   * Opens the executors to such readers. Rows and keys cross the network unencrypted, and the
   * network is trusted not to change them; with Spark's encryption only processes of the same host
   * can read. Blocks.
   *
   * @param label name by which {@link #revoke} ends the grant: 1 to 64 letters, digits, dots,
   *     underscores and hyphens. A label that is used again names all of its grants
   * @param expiresIn time until the end of the grant, positive; the clocks of the executors decide
   * @return a handle, for {@link StoreHandle#toJson} and {@link StoreHandle#save}
   * @throws IllegalArgumentException if the label is illegal or was revoked, or the time is not
   *     positive
   * @throws UnsupportedOperationException if {@code spark.ddstore.grants} is false
   * @throws IllegalStateException if the store has been dropped
   * @throws DDStoreException if an executor does not answer in time, or if the store belongs to
   *     another user
   */
  public StoreHandle grant(String label, Duration expiresIn) {
    Objects.requireNonNull(label, "label is null");
    Objects.requireNonNull(expiresIn, "expiresIn is null");
    if (expiresIn.isNegative() || expiresIn.isZero()) {
      throw new IllegalArgumentException(
          "expiresIn of grant \"%s\" is %s: it must be positive".formatted(label, expiresIn));
    }
    return grant(label, Math.addExact(System.currentTimeMillis(), expiresIn.toMillis()));
  }

  /**
   * Makes a handle for ranks that are processes of their own, until the store ends. Like a run in
   * Java, for every user of the application.
   */
  StoreHandle grantRanks() {
    return makeGrant(RankPlaces.GRANT, ReadClaims.NEVER);
  }

  private StoreHandle grant(String label, long expiresMs) {
    checkOwner("grant reads of");
    return makeGrant(label, expiresMs);
  }

  private StoreHandle makeGrant(String label, long expiresMs) {
    StoreSnapshot state = snapshot(places().now());
    if (!context().conf().getBoolean(OptionKeys.SETTING_GRANTS, true)) {
      throw new UnsupportedOperationException(
          "store \"%s\" cannot be read from outside of its application: %s is false"
              .formatted(name(), OptionKeys.SETTING_GRANTS));
    }
    if (!context().conf().getBoolean("spark.authenticate", false)
        && warned.compareAndSet(false, true)) {
      LOG.warn(
          "store \"{}\" is opened to readers outside of Spark, and spark.authenticate is off:"
              + " whoever reaches the ports of Spark can run code in this application. Set it, or"
              + " let only trusted hosts reach them",
          name());
    }
    return new StoreHandle(grants.grant(state, label, expiresMs), new Source(label, expiresMs));
  }

  /** The maker of the handles of one grant. */
  private final class Source implements HandleSource {
    private final String label;
    private final long expiresMs;

    Source(String label, long expiresMs) {
      this.label = label;
      this.expiresMs = expiresMs;
    }

    @Override
    public StoreHandle now() {
      return grant(label, expiresMs);
    }

    @Override
    public void follow(Path path) throws IOException {
      followed.add(path, this);
    }
  }

  /**
   * {@return the grants of the store, by label} Those that have ended and those that were revoked
   * stay in the list.
   */
  public List<StoreGrant> grants() {
    return grants.grants();
  }

  /**
   * Ends a grant before its time: executors refuse its readers, and close their channels. Processes
   * of the same host and user that have mapped the rows keep them until the store is dropped.
   * Blocks for at most about 30 s.
   *
   * @param label label of {@link #grant}; {@code "handle"} for the handles of {@link
   *     StoreHandle#toJson}
   * @return the addresses of the executors that did not confirm; such an executor closes the
   *     channels within a second after it runs again
   * @throws IllegalArgumentException if there is no such grant; the message names those that exist
   * @throws IllegalStateException if the store has been dropped
   * @throws DDStoreException if the store belongs to another user
   */
  public List<String> revoke(String label) {
    Objects.requireNonNull(label, "label is null");
    checkOwner("revoke a grant of");
    places().checkLive();
    return grants.revoke(label, places().served());
  }

  private StoreSnapshot snapshot(ResidentLayout layout) {
    places().checkLive();
    return new StoreSnapshot(
        name(), token, origin().settings(), processes.local(), sourceSchema(), columns(), layout);
  }

  /**
   * Describes the rows that the store would lose with executors that are about to end; empty if it
   * would lose none.
   */
  Optional<String> lossWith(Set<String> executors) {
    return places()
        .findLost()
        .lossWith(executors)
        .map(loss -> "store \"%s\" loses %s".formatted(name(), loss));
  }

  /** Warns once if executors that end together hold all copies of some shard. */
  void warnOf(SharedLoss loss) {
    runner.warnOf(loss);
  }

  /**
   * Returns random rows with a random seed: each call gives another sample, and all queries of one
   * returned DataFrame read the same rows. See {@link #sample(long, long)}.
   *
   * @param count number of rows, from 0 to {@link #rows()}; at most 10 million
   * @return a DataFrame with the columns of {@link #sourceSchema()}
   * @throws IllegalArgumentException if the number of rows is out of range
   * @throws IllegalStateException if the store has been dropped
   */
  public Dataset<Row> sample(long count) {
    return sample(count, ThreadLocalRandom.current().nextLong());
  }

  /**
   * Returns random rows: a uniform sample without repeats, of the rows that the store has now. It
   * depends on {@code count}, {@code seed} and the number of rows only; a smaller sample of the
   * same seed is a part of a larger one. Rows appended later are not in the sample. If another
   * store of this name replaces this one, later queries sample that store.
   *
   * <p>This call reads no rows. Each query computes the indices on the driver, in memory
   * proportional to {@code count}, and reads {@code count} rows by index; {@code count()} alone
   * reads none. The order of the rows is not random. The DataFrame belongs to the session that
   * loaded the store.
   *
   * @param count number of rows, from 0 to {@link #rows()}; at most 10 million
   * @param seed any number
   * @return a DataFrame with the columns of {@link #sourceSchema()}, and the metadata column {@code
   *     __index}
   * @throws IllegalArgumentException if the number of rows is out of range
   * @throws IllegalStateException if the store has been dropped
   */
  public Dataset<Row> sample(long count, long seed) {
    places().checkLive();
    return origin()
        .session()
        .read()
        .format(OptionKeys.FORMAT)
        .option(OptionKeys.SAMPLE, count)
        .option(OptionKeys.SAMPLE_SEED, seed)
        .load(name());
  }

  /**
   * Runs a task on every rank like {@link StoreSpec#run}, on the existing shards. A rank runs
   * beside its shard if that executor has a free slot, see {@link RankContext#isHome()}.
   * Collectives and loaders are available as in any run, and the task may add its own variables. It
   * cannot update the rows or append to them. First restores rows that were lost with an executor,
   * unless a replica group has them.
   *
   * @param <T> type of the results
   * @param task a serializable task
   * @return the results of all ranks, in rank order
   * @throws IllegalArgumentException immediately, if the task is not serializable
   * @throws IllegalStateException if the store has been dropped
   * @throws RebuildDiffersException if reloaded rows differ from the lost ones
   * @throws PreflightException if the cluster cannot run the job; it lists what is missing. Thrown
   *     immediately, or after lost executors have not been replaced for two minutes
   * @throws StoreJobException if the last attempt failed; its cause is the exception of a rank
   * @throws DDStoreException if lost rows could not be restored; the message gives the reason
   */
  public <T> List<T> run(RankTask<T> task) {
    UserTaskBody.checkSerializable(task);
    return runner.run(task);
  }

  /**
   * Returns a DataFrame of rows that a function makes of the rows of the store, such as the
   * predictions of a model. Each partition has the rows of one shard, in order, and its task runs
   * in the executor that holds the shard if that executor has a free slot; the rows do not pass
   * through the driver. Lazy: this call reads nothing, and each action on the DataFrame calls the
   * function again. The rows are those that the store has now; rows appended later are left out.
   *
   * @param function serializable function that opens a {@link BatchMapper} in each task
   * @param schema columns of the rows that the mapper returns
   * @param batchSize largest number of rows per batch, at least 1
   * @return a DataFrame in the session that loaded the store
   * @throws IllegalArgumentException if the function is not serializable, or the batch size is
   *     below 1
   * @throws IllegalStateException if the store has been dropped
   */
  public Dataset<Row> map(BatchFunction function, StructType schema, int batchSize) {
    Objects.requireNonNull(function, "function is null");
    Objects.requireNonNull(schema, "schema is null");
    places().checkLive();
    UserTaskBody.checkSerializable(function);
    return MappedRows.frame(this, function, schema, batchSize);
  }

  /**
   * Dumps the store to a new or empty directory, see {@link #dump(String, DumpMode)}.
   *
   * @param path directory in any file system of Hadoop
   * @return the description of the dump
   */
  public DumpInfo dump(String path) {
    return dump(path, DumpMode.CREATE);
  }

  /**
   * Dumps the rows to a directory, from which {@link DDStores#restore} loads them again, in any
   * application and on any number of ranks. All ranks write their shards at the same time, in
   * bounded memory and with checksums, in a run like that of {@link #run}. The manifest is written
   * last, so a dump that was stopped is never taken for a complete one. Rows that are appended
   * meanwhile are left out. Blocks. If it fails, its files are deleted, and the directories that it
   * has created.
   *
   * @param path directory in any file system of Hadoop that the driver and all executors reach,
   *     such as HDFS or S3A; a local path only if all of them are on one host
   * @param mode handling of a dump that is already in the directory
   * @return the description of the dump
   * @throws IllegalArgumentException if the path is blank, or the directory contains other files, a
   *     dump that the mode does not replace, or the dump that a store of this application was
   *     restored from
   * @throws DumpException if the file system fails, for example because the disk is full or the
   *     user lacks a permission, or if another dump was published in the directory meanwhile
   * @throws IllegalStateException if the store has been dropped, or the application has ended
   * @throws PreflightException if the cluster cannot run the job; it lists what is missing
   * @throws StoreJobException if the last attempt failed for another reason
   */
  public DumpInfo dump(String path, DumpMode mode) {
    Objects.requireNonNull(path, "path is null");
    Objects.requireNonNull(mode, "mode is null");
    return StoreDump.of(this, runner).to(path, mode);
  }

  ResidentRunner runner() {
    return runner;
  }

  /**
   * Appends rows at the end. Existing rows keep their indices, and existing readers and loaders
   * keep the rows that they started with. The options of the store's specification define order and
   * encoding of the appended rows; the same number of ranks loads them. Blocks. First waits while
   * other threads write the store, for at most {@code spark.ddstore.writeTimeout}. The append is
   * atomic: an interrupt or an error before the commit leaves the store unchanged, an interrupt
   * after it only sets the flag of the thread.
   *
   * @param rows rows with the columns and types of {@link #sourceSchema()}
   * @throws IllegalArgumentException if columns or types differ; the message names the difference
   * @throws IllegalStateException if the store has been dropped
   * @throws PreflightException if the cluster cannot load the rows; it lists what is missing.
   *     Thrown immediately, or after lost executors have not been replaced for two minutes
   * @throws org.ddstore.spark.types.IngestException if a value does not fit its field; it names
   *     column and row
   * @throws StoreJobException if the last attempt to load the rows failed; its cause is the
   *     exception of a rank
   * @throws DDStoreException if an executor that has loaded its rows does not answer, if the thread
   *     is interrupted while it waits for other writers, or if the store belongs to another user
   */
  public void append(Dataset<Row> rows) {
    Objects.requireNonNull(rows, "rows is null");
    ClassicSpark.require(rows);
    checkOwner("append to");
    places().checkLive();
    QueriedStores.warning(name(), rows).ifPresent(LOG::warn);
    Duration timeout = Settings.of(rows.sparkSession()).writeTimeout();
    stores.writing(
        name(),
        timeout,
        () -> {
          changes.append(
              new AppendPlan(name(), sourceSchema(), columns(), schema()), rows, timeout);
          return null;
        });
  }

  /**
   * Replaces the store by a new one of the same name, with the options of this store's
   * specification. The old store is dropped after the new one is complete, so memory must suffice
   * for both. Also works if this store has been dropped. Blocks. Other writers of the store wait
   * meanwhile.
   *
   * @param rows rows with all columns that the options name, including columns that are only
   *     ordered by
   * @return the new store
   * @throws IllegalArgumentException if columns are missing; the message names them
   */
  public ResidentStore replace(Dataset<Row> rows) {
    Objects.requireNonNull(rows, "rows is null");
    ClassicSpark.require(rows);
    ResidentOrigin fitting =
        origin().with(rows, name(), "add the column, or write the rows with separate options");
    return StoreSpec.of(fitting).replace(name());
  }

  /**
   * Restores the rows of lost executors: copies them from a replica group that has them, else loads
   * only these rows again. Also copies the rows of executors that are being decommissioned to other
   * executors. Earlier handles cannot locate the restored rows. Blocks. Does nothing if no rows are
   * lost and no executor is being decommissioned.
   *
   * @throws RebuildDiffersException if reloaded rows differ from the lost ones; the store is
   *     unchanged
   * @throws PreflightException if no slot is available; it names the remedy
   * @throws StoreJobException if the last attempt to load or copy the rows failed
   * @throws IllegalStateException if the store has been dropped
   * @throws DDStoreException if the store belongs to another user
   */
  public void repair() {
    checkOwner("repair");
    copyAway();
  }

  /** Does what {@link #repair} does, without the check of the owner. */
  void copyAway() {
    changes.repair();
  }

  /**
   * Frees the memory of the store on all executors. Readers throw a {@link
   * org.ddstore.types.StoreGoneException} at their next batch; those that have mapped rows keep the
   * memory until they are closed. An append or repair in progress frees the rows that it has
   * loaded, and fails. Idempotent. Blocks until everything is freed, for at most about 30 s: an
   * executor that does not answer in this time is logged and does not delay others. An interrupt
   * does not stop the drop; the flag of the thread is set afterwards.
   *
   * @throws DDStoreException if the store belongs to another user
   */
  public void drop() {
    checkOwner("drop");
    long start = System.nanoTime();
    if (!isDropped()) {
      reports.refresh(LAST_REPORT_LIMIT).join();
    }
    if (end()) {
      events().dropped(places().now(), start);
    }
  }

  /** Returns the recorder of the store's events. */
  StoreEvents events() {
    return new StoreEvents(context(), name());
  }

  /**
   * Does what {@link #drop} does, without the check of the owner and the event.
   *
   * @return false if the store was dropped before
   */
  boolean end() {
    followed.end();
    Optional<Collection<ProcessAddress>> holders = places().end();
    if (holders.isPresent()) {
      try (processes) {
        stores.remove(this);
        StoreMetrics.remove(token.id());
        reports.endVisits();
        processes.drop(holders.get());
      }
    }
    return holders.isPresent();
  }

  /** {@return what each rank has read in all runs so far, by rank and read path} */
  public List<List<ReadCount>> reads() {
    return reads.byRank();
  }

  /**
   * {@return the state of the store and the reads of all executors} Asks all executors at the same
   * time and blocks for their answers, for at most 30 s.
   *
   * @throws org.ddstore.types.DeadlineExceededException if an executor does not answer
   * @throws DDStoreException if the thread is interrupted
   * @throws IllegalStateException if the store has been dropped
   */
  public StoreStatistics statistics() {
    places().checkLive();
    places().findLost();
    reports.await(ANSWER_LIMIT);
    return lastStatistics();
  }

  /** Returns the last reports of the executors. */
  ExecutorReports reports() {
    return reports;
  }

  /** Returns the state of the store with the last reports of the executors. Does not block. */
  StoreStatistics lastStatistics() {
    ResidentLayout now = places().now();
    return new StoreStatistics(
        name(),
        owner(),
        createdMs(),
        now.rows(),
        now.bytes(),
        now.groups().ranks(),
        now.groups().width(),
        origin().settings().backing().toString(),
        origin().settings().shortcut(),
        now.transport(),
        now.lostRanks(),
        now.unreadableRows(),
        places().losses(),
        changes.repairs(),
        changes.repairMillis(),
        reports.executors(now),
        grants());
  }

  /**
   * {@return human-readable lines: rows, bytes, ranks and executors, the transport of rows outside
   * of shared memory, lost rows, ranks that ran away from their shards in the last run, and
   * warnings for the next run} Blocks like {@link #statistics()}.
   */
  public String explain() {
    return ResidentExplanation.of(
        this, places().findLost(), statistics().executors(), reads, runner.warnings());
  }

  /** Returns one human-readable line. Does not block. */
  @Override
  public String toString() {
    return ResidentExplanation.line(name(), places().now(), isDropped());
  }
}
