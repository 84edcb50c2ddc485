// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.cluster.LiveExecutors;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.dump.DumpSource;
import org.ddstore.spark.failure.RetryPolicy;
import org.ddstore.spark.failure.TaskFailedException;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.NotUniformException;
import org.ddstore.spark.job.PlacedRdd;
import org.ddstore.spark.job.Plans;
import org.ddstore.spark.resident.ResidentLayout.Place;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.RebuildDiffersException;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.RankLostException;
import org.ddstore.types.Schema;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs of one repair of a resident store, which {@link RepairProtocol} decides.
 *
 * @param origins origins of the load and of each append
 * @param processes connection to the processes of the store
 * @param snapshot state of the store at the start of the round, the source of copies
 * @param publish function that publishes a new layout; throws if the store has been dropped
 */
record ResidentRepair(
    String name,
    List<ResidentOrigin> origins,
    StoreToken token,
    ResidentProcesses processes,
    RepairProtocol repair,
    Supplier<StoreSnapshot> snapshot,
    Consumer<ResidentLayout> publish) {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentRepair.class);

  /**
   * Runs one round of the repair. Blocks while its jobs run. Publishes the restored shards after
   * each job.
   *
   * @throws RebuildDiffersException if reloaded rows differ from the lost ones; they are not
   *     published
   * @throws DDStoreException if the DataFrame cannot be read again; it names the remedy
   */
  void run() {
    try (PartPlans plans = new PartPlans()) {
      while (repair.step() != RepairProtocol.Step.LOOK) {
        switch (repair.step()) {
          case AWAIT -> {
            planAhead(plans);
            repair.awaited(awaitExecutors());
          }
          case COPY -> repair.restored(copy(repair.places()));
          case LOAD -> repair.restored(load(repair.places(), plans));
          default -> throw new IllegalStateException(repair.step().toString());
        }
      }
    }
  }

  /**
   * Plans the first part that has to be loaded, while lost executors are being replaced; not if
   * shards are to be copied, which comes first.
   */
  private void planAhead(PartPlans plans) {
    if (layout().lost().stream().anyMatch(layout()::hasCopy)) {
      return;
    }
    try {
      layout().lost().stream()
          .min(Comparator.comparingInt(Place::part).thenComparingInt(Place::rank))
          .filter(place -> origins.get(place.part()).dump().isEmpty())
          .ifPresent(plans::of);
    } catch (RuntimeException e) {
      LOG.debug("store \"{}\": not planned ahead, planning again", name, e);
    }
  }

  /** The plans of the part that is loaded now. */
  private final class PartPlans implements AutoCloseable {
    private int part;
    private Plans plans; // null before the first part

    /** Returns the plans of the part of a place. Blocks while their jobs run. */
    Plans of(Place first) {
      if (plans == null || part != first.part()) {
        close();
        ResidentOrigin origin = origins.get(first.part());
        part = first.part();
        try {
          plans = origin.plans(() -> like(plan(origin), first.rank()));
        } catch (NotUniformException e) {
          throw new RebuildDiffersException(name, first.rank(), e.getMessage());
        }
      }
      return plans;
    }

    @Override
    public void close() {
      if (plans != null) {
        plans.close();
        plans = null;
      }
    }
  }

  private ResidentLayout layout() {
    return repair.start();
  }

  /**
   * Waits until replacements of lost executors take tasks. An executor registers some time before
   * it does, and until then all shards would be restored on the remaining executors. The wait ends
   * when a barrier stage over all slots that the ranks need has started. If other jobs use the
   * slots, or fewer slots exist than before, the shards go to executors with free slots.
   *
   * @return number of shards that can be restored at the same time
   */
  private int awaitExecutors() {
    ResidentOrigin origin = origins.get(0);
    int ranks = layout().groups().ranks();
    ClusterFacts cluster =
        ClusterFacts.await(
            origin.session().sparkContext(),
            origin.profile(),
            OptionalInt.of(ranks),
            origin.replacementTimeout());
    if (cluster.slots() < ranks) {
      LOG.warn("store \"{}\" needs {} slots, {} available", name, ranks, cluster.slots());
    } else if (!origin.awaitSlots(ranks, origin.settings().slotsTimeout())) {
      LOG.warn("store \"{}\" needs {} free slots, some are in use", name, ranks);
    }
    return Math.max(1, Math.min(ranks, cluster.slots()));
  }

  private ResidentLayout copy(List<Place> places) {
    List<ShardReport> lost = places.stream().map(layout()::shard).toList();
    CopyLoader loader = new CopyLoader(snapshot.get(), lost);
    return replace(places, 0, 0, attempt -> new ResidentLoading.Source(emptyAtHomes(), loader));
  }

  private RDD<InternalRow> emptyAtHomes() {
    return PlacedRdd.empty(origins.get(0).session().sparkContext(), homes());
  }

  private ResidentLayout load(List<Place> places, PartPlans plans) {
    int part = places.get(0).part();
    ResidentOrigin origin = origins.get(part);
    int[] members =
        places.stream().mapToInt(place -> layout().groups().memberOf(place.rank())).toArray();
    if (origin.dump().isPresent()) {
      return load(places, origin.dump().get(), members);
    }
    try {
      Plans planned = plans.of(places.get(0));
      return replace(
          places,
          part,
          layout().rowsOf(part),
          attempt -> {
            IngestPlan plan = planned.forAttempt(attempt);
            return new ResidentLoading.Source(
                PlacedRdd.of(plan.shardsOf(members), homes()), plan.encoder(members));
          });
    } catch (NotUniformException e) {
      throw new RebuildDiffersException(name, places.get(0).rank(), e.getMessage());
    }
  }

  /** Loads shards of a restored store again, from its dump. */
  private ResidentLayout load(List<Place> places, DumpSource dump, int... members) {
    try {
      dump.check();
    } catch (DumpException e) {
      throw unreadable(e);
    }
    int part = places.get(0).part();
    return replace(
        places,
        part,
        layout().rowsOf(part),
        attempt ->
            new ResidentLoading.Source(
                emptyAtHomes(), dump.loader(layout().groups().width(), members)));
  }

  /** Plans a reload; the DataFrame may read stores, even this one, that have also lost rows. */
  private IngestPlan plan(ResidentOrigin origin) {
    try {
      return origin.plan(layout().groups());
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof RankLostException) {
          throw new DDStoreException(
              "rows of \"%s\" were lost with their executor and cannot be restored: their query reads a store that has also lost rows, see the cause. Call repair() on that store first. If that store is \"%s\" itself, call drop() and load it anew"
                  .formatted(name, name),
              e);
        }
      }
      boolean isOfSpark = !(e instanceof RuntimeException);
      boolean isOther =
          isOfSpark
              ? !RetryPolicy.of(origin.settings()).isPermanent(e)
              : e instanceof DDStoreException && !(e instanceof TaskFailedException);
      if (isOther) {
        throw e;
      }
      throw unreadable(e);
    }
  }

  private DDStoreException unreadable(Exception e) {
    return new DDStoreException(
        "rows of \"%s\" were lost with their executor, and their source cannot be read again: %s. If the source cannot be restored, drop() \"%s\" and load it anew"
            .formatted(
                name,
                RetryPolicy.withCause(
                    RetryPolicy.firstLine(e.getMessage()), RetryPolicy.rootCause(e)),
                name),
        e);
  }

  /** Returns the plan with the schema of the store, which reloaded rows must have. */
  private IngestPlan like(IngestPlan fresh, int rank) {
    IngestPlan plan = fresh.like(layout().schema());
    Schema schema = plan.schema();
    if (!schema.equals(layout().schema())) {
      plan.close();
      throw new RebuildDiffersException(
          name, rank, "records of %s instead of %s".formatted(schema, layout().schema()));
    }
    return plan;
  }

  /** Returns the preferred locations of the next job's shards. */
  private List<String> homes() {
    Map<String, String> locations = new HashMap<>();
    SparkContext context = origins.get(0).session().sparkContext();
    for (ClusterFacts.Executor executor : ClusterFacts.of(context).executors()) {
      if (LiveExecutors.takesTasks(context, executor.id())) {
        locations.put(executor.id(), "executor_" + executor.host() + "_" + executor.id());
      }
    }
    return repair.homes(locations.keySet()).stream()
        .map(home -> locations.getOrDefault(home, ""))
        .toList();
  }

  private ResidentLayout replace(
      List<Place> places, int part, long base, ResidentLoading.Sources sources) {
    ReplicaGroups groups = new ReplicaGroups(places.size(), places.size());
    ResidentLoading loading = new ResidentLoading(origins.get(part), groups, token, processes);
    long bytes = places.stream().map(layout()::shard).mapToLong(ShardReport::bytes).sum();
    return loading.run(bytes, base, sources, loaded -> publish(places, loaded));
  }

  private ResidentLayout publish(List<Place> places, ResidentLoading.Loaded loaded) {
    compare(places, loaded.shards());
    Map<Place, ShardReport> rebuilt = new HashMap<>();
    for (int i = 0; i < places.size(); i++) {
      rebuilt.put(places.get(i), loaded.shards().get(i));
    }
    ResidentLayout changed = repair.current().withRebuilt(rebuilt).without(loaded.gone());
    publish.accept(changed);
    return changed;
  }

  private void compare(List<Place> places, List<ShardReport> shards) {
    for (int i = 0; i < shards.size(); i++) {
      ShardReport then = layout().shard(places.get(i));
      ShardReport now = shards.get(i);
      if (!now.hasRowsOf(then)) {
        throw new RebuildDiffersException(
            name,
            places.get(i).rank(),
            "%,d rows from row %,d, digest %s, instead of %,d rows from row %,d, digest %s"
                .formatted(
                    now.rows(),
                    now.firstRow(),
                    now.digest(),
                    then.rows(),
                    then.firstRow(),
                    then.digest()));
      }
    }
  }
}
