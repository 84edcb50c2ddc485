// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
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
 * One repair of a resident store. It first copies the shards of executors that are being
 * decommissioned to others, then restores lost shards: as copies from another replica group, else
 * from their DataFrame, of which it loads only these shards.
 *
 * @param origins origins of the load and of each append
 * @param processes connection to the processes of the store
 * @param leaving ids of executors that are being decommissioned
 * @param snapshot current state of the store, the source of copies
 * @param publish function that publishes a new layout; throws if the store has been dropped
 */
record ResidentRepair(
    String name,
    List<ResidentOrigin> origins,
    StoreToken token,
    ResidentProcesses processes,
    ResidentLayout layout,
    Set<String> leaving,
    Supplier<StoreSnapshot> snapshot,
    Consumer<ResidentLayout> publish) {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentRepair.class);

  /**
   * Runs the repair. Blocks while its jobs run. Publishes the restored shards after each job.
   *
   * @throws RebuildDiffersException if reloaded rows differ from the lost ones; they are not
   *     published
   * @throws DDStoreException if the DataFrame cannot be read again; it names the remedy
   */
  void run() {
    ResidentLayout now = evacuate(layout);
    if (layout.lost().isEmpty()) {
      return;
    }
    Slots slots = new Slots();
    for (int part = 0; part < layout.parts(); part++) {
      List<Place> copied = new ArrayList<>();
      List<Place> loaded = new ArrayList<>();
      for (int rank = 0; rank < layout.groups().ranks(); rank++) {
        Place place = new Place(part, rank);
        if (layout.lost().contains(place)) {
          (layout.hasCopy(place) ? copied : loaded).add(place);
        }
      }
      if (!copied.isEmpty()) {
        for (List<Place> some : atMost(slots.await(), copied)) {
          now = copy(now, some);
        }
      }
      if (!loaded.isEmpty()) {
        now = load(now, part, loaded, slots);
      }
    }
  }

  /**
   * Copies the shards of executors that are being decommissioned, first those without another copy.
   * Spark ends such an executor when its tasks have ended, so the copy does not wait for
   * replacements.
   */
  private ResidentLayout evacuate(ResidentLayout before) {
    Set<Place> places = before.placesOn(leaving);
    if (places.isEmpty()) {
      return before;
    }
    ResidentLayout without = before.without(leaving);
    List<Place> urgentFirst = new ArrayList<>(places);
    urgentFirst.sort(
        Comparator.comparing(without::hasCopy)
            .thenComparingInt(Place::part)
            .thenComparingInt(Place::rank));
    ResidentOrigin origin = origins.get(0);
    int slots = ClusterFacts.of(origin.session().sparkContext(), origin.profile()).slots();
    ResidentLayout now = before;
    for (List<Place> some : atMost(Math.max(1, slots), urgentFirst)) {
      now = copy(now, some);
    }
    return now;
  }

  private static List<List<Place>> atMost(int length, List<Place> places) {
    List<List<Place>> runs = new ArrayList<>();
    for (int from = 0; from < places.size(); from += length) {
      runs.add(places.subList(from, Math.min(places.size(), from + length)));
    }
    return runs;
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
    int ranks = layout.groups().ranks();
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

  /** The slots of a repair, for which it waits once, when it first needs them. */
  private final class Slots {
    private int maxSlots; // 0 before the wait

    /** Returns the number of shards that can be restored at the same time. */
    int await() {
      if (maxSlots == 0) {
        maxSlots = awaitExecutors();
      }
      return maxSlots;
    }
  }

  private ResidentLayout copy(ResidentLayout now, List<Place> places) {
    List<ShardReport> lost = places.stream().map(layout::shard).toList();
    CopyLoader loader = new CopyLoader(snapshot.get(), lost);
    ResidentOrigin origin = origins.get(0);
    return replace(
        now,
        places,
        origin,
        0,
        attempt ->
            new ResidentLoading.Source(
                PlacedRdd.empty(origin.session().sparkContext(), homes(now, places)), loader));
  }

  /** Loads shards of a part again. Plans while executors are replaced. */
  private ResidentLayout load(ResidentLayout before, int part, List<Place> places, Slots slots) {
    ResidentOrigin origin = origins.get(part);
    ResidentLayout now = before;
    if (origin.dump().isPresent()) {
      for (List<Place> some : atMost(slots.await(), places)) {
        now = load(now, part, some, origin.dump().get());
      }
      return now;
    }
    int firstRank = places.get(0).rank();
    try (Plans plans = origin.plans(() -> like(plan(origin), firstRank))) {
      for (List<Place> some : atMost(slots.await(), places)) {
        now = load(now, part, some, plans);
      }
      return now;
    } catch (NotUniformException e) {
      throw new RebuildDiffersException(name, firstRank, e.getMessage());
    }
  }

  private ResidentLayout load(ResidentLayout now, int part, List<Place> places, Plans plans) {
    int[] members = members(places);
    return replace(
        now,
        places,
        origins.get(part),
        layout.rowsOf(part),
        attempt -> {
          IngestPlan plan = plans.forAttempt(attempt);
          return new ResidentLoading.Source(
              PlacedRdd.of(plan.shardsOf(members), homes(now, places)), plan.encoder(members));
        });
  }

  private int[] members(List<Place> places) {
    return places.stream().mapToInt(place -> layout.groups().memberOf(place.rank())).toArray();
  }

  /** Loads shards of a restored store again, from its dump. */
  private ResidentLayout load(ResidentLayout now, int part, List<Place> places, DumpSource dump) {
    try {
      dump.check();
    } catch (DumpException e) {
      throw unreadable(e);
    }
    ResidentOrigin origin = origins.get(part);
    return replace(
        now,
        places,
        origin,
        layout.rowsOf(part),
        attempt ->
            new ResidentLoading.Source(
                PlacedRdd.empty(origin.session().sparkContext(), homes(now, places)),
                dump.loader(layout.groups().width(), members(places))));
  }

  /** Plans a reload; the DataFrame may read stores, even this one, that have also lost rows. */
  private IngestPlan plan(ResidentOrigin origin) {
    try {
      return origin.plan(layout.groups());
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
    IngestPlan plan = fresh.like(layout.schema());
    Schema schema = plan.schema();
    if (!schema.equals(layout.schema())) {
      plan.close();
      throw new RebuildDiffersException(
          name, rank, "records of %s instead of %s".formatted(schema, layout.schema()));
    }
    return plan;
  }

  /**
   * Returns preferred locations of restored shards: appended rows go to the executor of the rank's
   * first shard, others to executors without a copy of them and with the fewest shards.
   */
  private List<String> homes(ResidentLayout now, List<Place> places) {
    Map<String, Integer> load = new HashMap<>();
    Map<String, String> locations = new HashMap<>();
    SparkContext context = origins.get(0).session().sparkContext();
    for (ClusterFacts.Executor executor : ClusterFacts.of(context).executors()) {
      if (LiveExecutors.takesTasks(context, executor.id())) {
        load.put(executor.id(), 0);
        locations.put(executor.id(), "executor_" + executor.host() + "_" + executor.id());
      }
    }
    now.shards().forEach(shard -> load.computeIfPresent(shard.executorId(), (id, n) -> n + 1));
    List<String> homes = new ArrayList<>();
    Map<Integer, String> homeOfRank = new HashMap<>(); // if the first shard is restored, too
    for (Place place : places) {
      Set<String> holders = now.holders(place);
      String chosen =
          load.entrySet().stream()
              .filter(executor -> !holders.contains(executor.getKey()))
              .min(Map.Entry.comparingByValue())
              .map(Map.Entry::getKey)
              .orElse("");
      String home =
          place.part() == 0
              ? chosen
              : homeOfRank.getOrDefault(place.rank(), now.home(place.rank()).executorId());
      if (place.part() == 0) {
        homeOfRank.put(place.rank(), home);
      }
      load.computeIfPresent(home, (id, n) -> n + 1);
      homes.add(locations.getOrDefault(home, ""));
    }
    return homes;
  }

  private ResidentLayout replace(
      ResidentLayout now,
      List<Place> places,
      ResidentOrigin origin,
      long base,
      ResidentLoading.Sources sources) {
    ReplicaGroups groups = new ReplicaGroups(places.size(), places.size());
    ResidentLoading loading = new ResidentLoading(origin, groups, token, processes);
    long bytes = places.stream().map(layout::shard).mapToLong(ShardReport::bytes).sum();
    ResidentLoading.Loaded loaded = loading.run(bytes, base, sources);
    List<ShardReport> shards = loaded.shards();
    try {
      compare(places, shards);
      Map<Place, ShardReport> rebuilt = new HashMap<>();
      for (int i = 0; i < places.size(); i++) {
        rebuilt.put(places.get(i), shards.get(i));
      }
      ResidentLayout changed = now.withRebuilt(rebuilt).without(loaded.gone());
      publish.accept(changed);
      return changed;
    } catch (RuntimeException | Error e) {
      loading.forget(shards);
      throw e;
    }
  }

  private void compare(List<Place> places, List<ShardReport> shards) {
    for (int i = 0; i < shards.size(); i++) {
      ShardReport then = layout.shard(places.get(i));
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
