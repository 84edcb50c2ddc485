package org.ddstore.spark;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.cluster.ClassicSpark;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.spark.cluster.Preflight;
import org.ddstore.spark.cluster.RunWarnings;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.job.BarrierJob;
import org.ddstore.spark.job.PlacedRdd;
import org.ddstore.spark.job.PlannedLoader;
import org.ddstore.spark.job.Plans;
import org.ddstore.spark.resident.AppendPlan;
import org.ddstore.spark.resident.AwayRank;
import org.ddstore.spark.resident.ExecutorHoldings;
import org.ddstore.spark.resident.RankOutcome;
import org.ddstore.spark.resident.ResidentChanges;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ResidentLoading;
import org.ddstore.spark.resident.ResidentOrigin;
import org.ddstore.spark.resident.ResidentPlaces;
import org.ddstore.spark.resident.ResidentProcesses;
import org.ddstore.spark.resident.ResidentReads;
import org.ddstore.spark.resident.StoreMetrics;
import org.ddstore.spark.resident.StoreOwner;
import org.ddstore.spark.resident.StoreSnapshot;
import org.ddstore.spark.resident.WorldWarning;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.types.ExecutorHolding;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.RebuildDiffersException;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store whose shards stay in the executors between jobs, under a name of the application. Its
 * rows never change; {@link #append} adds more at the end. It lives until {@link #drop()}, or the
 * end of the application. On the driver; any thread.
 */
public final class ResidentStore {
  /** Why a store that was to be read by mpi is not. */
  static final String NO_MPI =
      "the windows of mpi end with a job, the shards of a resident store do not: they are read by"
          + " tcp";

  private static final Logger LOG = LoggerFactory.getLogger(ResidentStore.class);

  private final ResidentStores stores;
  private final String name;
  private final ResidentOrigin origin;
  private final StoreToken token;
  private final StructType sourceSchema;
  private final List<ColumnMapping> columns;
  private final ResidentProcesses processes;
  private final ResidentPlaces places;
  private final ResidentChanges changes;
  private final ResidentReads reads;
  private final StoreOwner owner;
  private final AtomicBoolean warnedOfLocality = new AtomicBoolean();
  private final AtomicBoolean warnedOfWorld = new AtomicBoolean();

  private ResidentStore(
      ResidentStores stores,
      String name,
      ResidentOrigin origin,
      StoreToken token,
      IngestPlan plan,
      ResidentProcesses processes,
      ResidentLayout layout) {
    this.stores = stores;
    this.name = name;
    this.origin = origin;
    this.token = token;
    this.sourceSchema = plan.sourceSchema();
    this.columns = plan.mappings();
    this.processes = processes;
    this.places = new ResidentPlaces(name, origin.session().sparkContext(), layout, this::toString);
    this.changes = new ResidentChanges(name, origin, token, processes, places, this::snapshot);
    this.reads = new ResidentReads(layout.groups().ranks());
    this.owner = StoreOwner.current(origin.session().sparkContext());
  }

  /** Loads a store. Blocks; leaves nothing behind if it fails. */
  static ResidentStore load(ResidentStores stores, String name, ResidentOrigin origin) {
    SparkContext context = origin.session().sparkContext();
    int ranks = Preflight.ranks(context, origin.profile(), origin.settings());
    ReplicaGroups groups = origin.settings().groups(ranks);
    Preflight.check(context, origin.profile(), ranks, 0, Map.of(), origin.settings());
    QueriedStores.warning(name, origin.rows()).ifPresent(LOG::warn);
    StoreToken token = StoreToken.random();
    ResidentProcesses processes = ResidentProcesses.join(token, origin.settings());
    try (Plans plans = origin.plans(() -> origin.plan(groups))) {
      ResidentLoading loading = new ResidentLoading(origin, groups, token, processes);
      ResidentLoading.Loaded loaded =
          plans.load(
              () ->
                  loading.run(
                      plans.current().memoryBytes() * groups.groups(),
                      0,
                      attempt -> {
                        IngestPlan plan = plans.forAttempt(attempt);
                        return new ResidentLoading.Source(
                            plan.shards(groups.ranks()),
                            new PlannedLoader(plan, groups.width(), groups.members()));
                      }));
      try {
        ResidentLayout layout =
            ResidentLayout.of(plans.current().schema(), groups, loaded.shards())
                .without(loaded.gone());
        ResidentStore store =
            new ResidentStore(stores, name, origin, token, plans.current(), processes, layout);
        StoreMetrics.show(store.snapshot(layout), store.reads);
        return store;
      } catch (Throwable e) {
        loading.forget(loaded.shards());
        throw e;
      }
    } catch (Throwable e) { // Spark throws InterruptedException undeclared
      processes.close();
      throw Interrupts.beforeCommit(e, "load of \"%s\"".formatted(name));
    }
  }

  /** Its name, by which {@link DDStores#open} finds it. */
  public String name() {
    return name;
  }

  /** The user who has made it. */
  public String owner() {
    return owner.user();
  }

  /**
   * Throws if the calling thread works for another user than the owner.
   *
   * @param change what is to be done with the store, as a verb
   */
  void checkOwner(String change) {
    owner.check(origin.session().sparkContext(), change, name);
  }

  /** How many rows it has now. */
  public long rows() {
    return places.now().rows();
  }

  /** Bytes of memory that one copy of its rows takes. */
  public long bytes() {
    return places.now().bytes();
  }

  /** The schema of its records. */
  public Schema schema() {
    return places.now().schema();
  }

  /** The columns of the DataFrame that it holds, in their order, as the DataFrame has them. */
  public StructType sourceSchema() {
    return sourceSchema;
  }

  /** How many ranks hold it. */
  public int ranks() {
    return places.now().groups().ranks();
  }

  /** Ranks of a replica group, which together hold one full copy. */
  public int width() {
    return places.now().groups().width();
  }

  /** Binds every index to the bytes of its record; the same for every number of ranks. */
  public String digest() {
    return places.now().digest();
  }

  /** Whether its rows lie in files on disks. */
  boolean isInFiles() {
    return origin.settings().backing() == Backing.FILE;
  }

  /** Where its rows are, by append and rank, those of all replica groups. */
  public List<ResidentShard> shards() {
    return places.now().shards();
  }

  /**
   * What ordinary tasks, UDFs and the driver attach with.
   *
   * @throws IllegalStateException if the store has been dropped
   */
  public StoreHandle handle() {
    return new StoreHandle(snapshot(places.now()));
  }

  private StoreSnapshot snapshot(ResidentLayout layout) {
    places.checkLive();
    return new StoreSnapshot(name, token, origin.settings(), sourceSchema, columns, layout);
  }

  /** Spark has given an executor up. */
  void lost(String executorId) {
    places.lose(Set.of(executorId));
  }

  /** What it loses with executors that are about to be ended, for people; empty if nothing. */
  Optional<String> lossWith(Set<String> executors) {
    return places
        .findLost()
        .lossWith(executors)
        .map(loss -> "\"%s\" loses %s".formatted(name, loss));
  }

  /**
   * Warns once if an MPI world that loses a member would take all copies of some shard with it.
   *
   * @param world executors of an MPI world
   */
  void warnOfWorld(Set<String> world) {
    WorldWarning.of(name, places.now(), world)
        .filter(warning -> warnedOfWorld.compareAndSet(false, true))
        .ifPresent(LOG::warn);
  }

  /** The executors with rows of it that are being decommissioned. */
  Set<String> leaving() {
    return places.leaving();
  }

  /** Finds what was lost unheard. */
  void findLost() {
    places.findLost();
  }

  /**
   * Runs a task on every rank, as {@link StoreSpec#run} does, on the shards that are there: beside
   * its shard where its executor has a free slot, see {@link RankContext#isHome()}. Collectives and
   * loaders are those of any run; variables of one's own can be added. The rows cannot be updated
   * or appended to in it. Rows that were lost with an executor are brought back before, unless a
   * replica group has them.
   *
   * @return the ranks' results in rank order
   * @throws IllegalArgumentException at once, if the task cannot be sent to executors
   * @throws IllegalStateException if the store has been dropped
   * @throws RebuildDiffersException if lost rows cannot be brought back
   * @throws PreflightException if the cluster cannot run it; it says what is missing. At once, or
   *     when executors that were there have not been replaced within two minutes
   * @throws StoreJobException if the last attempt failed; its cause is what a rank threw
   * @throws DDStoreException if lost rows could not be brought back; it says why
   */
  public <T> List<T> run(RankTask<T> task) {
    StoreSpec.checkSerializable(task);
    places.checkLive();
    SparkContext context = origin.session().sparkContext();
    AtomicReference<ResidentLayout> ofAttempt = new AtomicReference<>();
    List<RankOutcome<T>> outcomes =
        origin
            .job(places.now().groups(), 0)
            .run(
                attempt -> {
                  warnOfLocality();
                  ResidentLayout now = withoutGaps();
                  ofAttempt.set(now);
                  return new BarrierJob.Load<>(
                      PlacedRdd.empty(context, now.preferredLocations()),
                      null,
                      token,
                      new ResidentRun<>(task, snapshot(now), now.homes()));
                });
    ran(outcomes, ofAttempt.get());
    List<T> results = new ArrayList<>(); // may be null
    for (RankOutcome<T> outcome : outcomes) {
      results.add(outcome.result());
    }
    return results;
  }

  /** Where the rows are when all of them are in executors that stay. */
  private ResidentLayout withoutGaps() {
    if (places.findLost().without(places.leaving()).hasGaps()) {
      try {
        changes.repair();
      } catch (StoreJobException e) { // it was submitted again as often as it may
        throw new DDStoreException(
            "rows of \"%s\" are lost and could not be brought back: %s"
                .formatted(name, e.getMessage()),
            e);
      }
    }
    return places.now();
  }

  /**
   * Adds rows at the end: those there are keep their indices, and who reads the store, or loads
   * batches of it, goes on with the rows that it had. They are ordered and encoded by the options
   * of the store's spec, and loaded by as many ranks. Blocks; waits first while other threads write
   * the store, {@code spark.ddstore.writeTimeout} at most. All rows come at one moment: an
   * interrupt or an error before it leaves the store as it was, an interrupt after it has no effect
   * but that the flag of the thread is set.
   *
   * @param rows of the columns and types of {@link #sourceSchema()}
   * @throws IllegalArgumentException if they have others, naming the difference
   * @throws IllegalStateException if the store has been dropped
   * @throws PreflightException if the cluster cannot load them; it says what is missing. At once,
   *     or when executors that were there have not been replaced within two minutes
   * @throws org.ddstore.spark.types.IngestException if the data do not fit; it names column and row
   * @throws StoreJobException if the last attempt to load them failed; its cause is what a rank
   *     threw
   * @throws DDStoreException if an executor has loaded its rows and does not answer, if the thread
   *     is interrupted while it waits for other writers, or if the store is another user's
   */
  public void append(Dataset<Row> rows) {
    Objects.requireNonNull(rows, "rows is null");
    ClassicSpark.require(rows);
    checkOwner("append to");
    places.checkLive();
    QueriedStores.warning(name, rows).ifPresent(LOG::warn);
    Duration timeout = Settings.of(rows.sparkSession()).writeTimeout();
    stores.writing(
        name,
        timeout,
        () -> {
          changes.append(new AppendPlan(name, sourceSchema, columns, schema()), rows, timeout);
          return null;
        });
  }

  /**
   * Loads rows by the options of the store's spec, in the place of the store under its name: it is
   * dropped when the new one stands, so there must be memory for both. Blocks. Also where the store
   * has been dropped by then. Threads that write the store meanwhile wait.
   *
   * @param rows with all columns that the options name, also those that are no fields, as one to
   *     order by may be
   * @return the new one
   * @throws IllegalArgumentException if rows lack such columns, naming them
   */
  public ResidentStore replace(Dataset<Row> rows) {
    Objects.requireNonNull(rows, "rows is null");
    ClassicSpark.require(rows);
    ResidentOrigin fitting =
        origin.with(rows, name, "Add the column, or write the rows with options of their own");
    return StoreSpec.of(fitting).replace(name);
  }

  /**
   * Brings back the rows of executors that are gone: copies of them where a replica group has them,
   * else they are loaded again, and they alone. Copies the rows of executors that are being
   * decommissioned to others. Handles that were asked for before do not know where they are now.
   * Blocks; does nothing if nothing is lost and no executor leaves.
   *
   * @throws RebuildDiffersException if they are not what they were; the store stays as it is
   * @throws PreflightException if there is no slot; it says what helps
   * @throws StoreJobException if the last attempt to load or copy them failed
   * @throws IllegalStateException if the store has been dropped
   * @throws DDStoreException if the store is another user's
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
   * Frees everything, on all executors; readers in flight keep what they have mapped until they
   * end. An append or a repair that is in hand frees by itself what it has loaded meanwhile, and
   * fails. Idempotent; blocks until it is freed, at most some 30 s: an executor that does not
   * answer by then is logged, and holds up no other. An interrupt of the thread, before or
   * meanwhile, does not end it; the flag is set afterwards.
   *
   * @throws DDStoreException if the store is another user's
   */
  public void drop() {
    checkOwner("drop");
    end();
  }

  /** Does what {@link #drop} does, without the check of the owner. */
  void end() {
    Optional<Collection<ProcessAddress>> holders = places.end();
    if (holders.isPresent()) {
      try (processes) {
        stores.remove(this);
        StoreMetrics.remove(token.id());
        processes.drop(holders.get());
      }
    }
  }

  /** Whether the store has been dropped, by whomever, or with its application. */
  public boolean isDropped() {
    return places.isEnded();
  }

  private List<String> warnings() {
    List<String> warnings =
        new ArrayList<>(RunWarnings.of(origin.session().sparkContext(), origin.profile(), ranks()));
    Set<String> leaving = places.leaving();
    if (!leaving.isEmpty()) {
      warnings.add(
          "executors %s are being decommissioned: repair() copies their rows to others"
              .formatted(leaving));
    }
    return warnings;
  }

  /** Ranks have homes only here; of slots every job says the same. */
  private void warnOfLocality() {
    RunWarnings.ofLocality(origin.session().sparkContext().getConf())
        .filter(warning -> warnedOfLocality.compareAndSet(false, true))
        .ifPresent(warning -> LOG.warn("\"{}\": {}", name, warning));
  }

  private void ran(List<? extends RankOutcome<?>> outcomes, ResidentLayout layout) {
    ClusterFacts cluster = ClusterFacts.of(origin.session().sparkContext(), origin.profile());
    reads.add(outcomes, AwayRank.of(outcomes, layout, cluster));
    reads.away().forEach(rank -> LOG.warn("\"{}\": {}", name, rank));
  }

  /** What the ranks of all runs so far have read of the rows, by rank and path. */
  public List<List<ReadCount>> reads() {
    return reads.byRank();
  }

  /**
   * What each executor holds, as it says itself; those that are gone are missing. Blocks for their
   * answers.
   *
   * @throws org.ddstore.types.DeadlineExceededException if one does not answer
   * @throws IllegalStateException if the store has been dropped
   */
  public List<ExecutorHolding> statistics() {
    places.checkLive();
    ResidentLayout now = places.findLost();
    return ExecutorHoldings.of(now, processes.summaries(now.processes().values()));
  }

  /**
   * Lines for people: rows, bytes, ranks and executors, how rows are read that memory does not
   * reach, what is lost, which ranks ran away from their shards the last time, and what is better
   * known before a run. Blocks as {@link #statistics()} does.
   */
  public String explain() {
    return ResidentExplanation.of(this, places.findLost(), statistics(), reads, warnings());
  }

  /** One line for people. */
  @Override
  public String toString() {
    ResidentLayout now = places.now();
    List<String> executors =
        now.shards().stream().map(ResidentShard::executorId).distinct().sorted().toList();
    return "ResidentStore[\"%s\", %,d rows, %,d bytes, %d ranks on executors %s%s]"
        .formatted(
            name,
            now.rows(),
            now.bytes(),
            now.groups().ranks(),
            executors,
            isDropped()
                ? ", dropped"
                : now.lost().isEmpty() ? "" : ", %d shards lost".formatted(now.lost().size()));
  }
}
