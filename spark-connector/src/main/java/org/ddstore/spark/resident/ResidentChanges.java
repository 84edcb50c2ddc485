// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.spark.cluster.LiveExecutors;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.failure.RetryPolicy;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.NotUniformException;
import org.ddstore.spark.job.PlacedRdd;
import org.ddstore.spark.job.Plans;
import org.ddstore.spark.task.JobDescription;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Plural;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes of a resident store after its load: appends, and repairs of lost rows. They run one
 * at a time. The store can be read and dropped meanwhile: a change in progress then frees the rows
 * that it has loaded, and reports that the store was dropped.
 */
public final class ResidentChanges {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentChanges.class);

  private final String name;
  private final ResidentOrigin origin;
  private final StoreToken token;
  private final ResidentProcesses processes;
  private final ResidentPlaces places;
  private final Function<ResidentLayout, StoreSnapshot> snapshots;

  /** Origins of the load and of each append. */
  private final List<ResidentOrigin> origins = new ArrayList<>(); // guarded by lock

  private final WriteLock lock;
  private volatile Runnable afterChange = () -> {};
  private final AtomicLong repairs = new AtomicLong();
  private final AtomicLong repairNanos = new AtomicLong();

  public ResidentChanges(
      String name,
      ResidentOrigin origin,
      StoreToken token,
      ResidentProcesses processes,
      ResidentPlaces places,
      Function<ResidentLayout, StoreSnapshot> snapshots) {
    this.name = name;
    this.origin = origin;
    this.token = token;
    this.processes = processes;
    this.places = places;
    this.snapshots = snapshots;
    this.origins.add(origin);
    this.lock = new WriteLock(name);
  }

  /**
   * Sets what follows each change, in the thread of the change. Before the first change.
   *
   * @param action action that does not throw
   */
  public void whenChanged(Runnable action) {
    afterChange = action;
  }

  public void append(AppendPlan fitting, Dataset<Row> rows, Duration timeout) {
    change("append", timeout, () -> appendHere(fitting, rows));
  }

  /** Restores lost rows, and copies rows of executors that are being decommissioned. */
  public void repair() {
    change("repair", origin.settings().writeTimeout(), this::repairHere);
  }

  /** Runs a change after the change in progress. */
  private void change(String what, Duration timeout, Runnable change) {
    lock.hold(
        timeout,
        () -> {
          changeAlone(what, change);
          return null;
        });
  }

  private void changeAlone(String what, Runnable change) {
    ResidentProcesses.Hold hold = processes.hold();
    SparkContext context = origin.session().sparkContext();
    try {
      places.checkLive();
      JobDescription.ofStore(
          context,
          name,
          what,
          () -> {
            change.run();
            return null;
          });
      afterChange.run();
    } catch (Exception thrown) {
      RuntimeException e = Interrupts.beforeCommit(thrown, "%s of \"%s\"".formatted(what, name));
      throw places.isEnded() ? places.droppedException(e) : e;
    } finally {
      hold.close();
    }
  }

  private void appendHere(AppendPlan fitting, Dataset<Row> rows) {
    long start = System.nanoTime();
    ResidentOrigin source =
        origin.with(
            fitting.select(rows, origin.ingest().takesAll()),
            name,
            "append rows that have the column");
    ReplicaGroups groups = places.now().groups();
    ResidentLoading loading = new ResidentLoading(source, groups, token, processes);
    try (Plans plans = source.plans(() -> fitting.like(source.plan(groups)))) {
      ResidentLayout before =
          loading.run(
              plans.current().memoryBytes() * groups.groups(),
              places.now().rows(),
              attempt -> {
                places.checkLive();
                IngestPlan plan = plans.forAttempt(attempt);
                return new ResidentLoading.Source(
                    PlacedRdd.of(
                        plan.shards(groups.ranks()), places.findLost().preferredLocations()),
                    plan.encoder(groups.members()));
              },
              loaded -> commit(loaded, source));
      events().appended(before, places.now(), start);
    } catch (NotUniformException e) {
      throw new IllegalArgumentException(
          "the rows cannot be appended to \"%s\": %s; the store has records of %s"
              .formatted(name, e.getMessage(), places.now().schema()),
          e);
    }
    places.findLost();
  }

  /**
   * Commits an append: adds both the rows and their origin, or neither. Returns the layout before.
   */
  private ResidentLayout commit(ResidentLoading.Loaded loaded, ResidentOrigin source) {
    return places.change(
        now -> {
          places.checkLive();
          ResidentLayout after = now.with(loaded.shards()).without(loaded.gone());
          origins.add(source);
          return after;
        });
  }

  /** Returns the number of completed repairs. */
  public long repairs() {
    return repairs.get();
  }

  /** Returns the duration of the completed repairs, in milliseconds. */
  public long repairMillis() {
    return TimeUnit.NANOSECONDS.toMillis(repairNanos.get());
  }

  private void repairHere() {
    RepairProtocol repair = new RepairProtocol(origin.settings().maxAttempts());
    look(repair);
    if (repair.step() == RepairProtocol.Step.DONE) {
      return;
    }
    long start = System.nanoTime();
    List<ShardReport> restored = new ArrayList<>();
    try {
      while (repair.step() != RepairProtocol.Step.DONE) {
        bringBack(repair, restored);
        look(repair);
      }
    } finally {
      if (!restored.isEmpty()) {
        events().repaired(restored, start);
      }
    }
    repairNanos.addAndGet(System.nanoTime() - start);
    repairs.incrementAndGet();
  }

  private StoreEvents events() {
    return new StoreEvents(origin.session().sparkContext(), name);
  }

  /** Looks for shards that are lost, or on executors that are being decommissioned. */
  private void look(RepairProtocol repair) {
    places.findLost();
    loseSilent(places.leaving());
    Set<String> leaving = places.leaving();
    int slots = ClusterFacts.of(origin.session().sparkContext(), origin.profile()).slots();
    repair.looked(places.now(), leaving, slots);
    if (repair.step() == RepairProtocol.Step.FAILED) {
      throw new DDStoreException(
          "rows of \"%s\" could not be restored because executors ended: %s lost after %s"
              .formatted(
                  name,
                  Plural.of(places.now().lost().size(), "shard is", "shards are"),
                  Plural.of(repair.rounds(), "repair")));
    }
    if (!leaving.isEmpty()) {
      LOG.warn(
          "store \"{}\": copying {} shards from decommissioning executors {}",
          name,
          places.now().placesOn(leaving).size(),
          leaving);
    }
  }

  /** Marks shards of decommissioning executors that have ended before Spark notices it as lost. */
  private void loseSilent(Set<String> leaving) {
    for (String executor : leaving) {
      ProcessAddress process = places.now().processes().get(executor);
      if (process != null && !processes.isReachable(process)) {
        places.markLost(Set.of(executor));
      }
    }
  }

  /**
   * Runs one round of a repair.
   *
   * @param restored list that each restored shard is added to
   */
  private void bringBack(RepairProtocol repair, List<ShardReport> restored) {
    SparkContext context = origin.session().sparkContext();
    ResidentLayout before = repair.start();
    Set<String> present = before.executors();
    try {
      new ResidentRepair(
              name,
              origins,
              token,
              processes,
              repair,
              () -> snapshots.apply(before),
              after ->
                  places.change(
                      now -> {
                        places.checkLive();
                        ResidentLayout changed = after.withLostOf(now);
                        restored.addAll(changed.shardsNotIn(now));
                        return changed;
                      }))
          .run();
    } catch (StoreJobException e) {
      places.checkLive();
      boolean isOther = !LiveExecutors.ended(context, present).isEmpty();
      if (!isOther
          || Thread.currentThread().isInterrupted()
          || RetryPolicy.of(origin.settings()).isPermanent(e)) {
        throw e;
      }
      LOG.warn(
          "store \"{}\": retrying on the remaining executors after a loss: {}",
          name,
          e.getMessage());
      repair.failed();
    }
  }
}
