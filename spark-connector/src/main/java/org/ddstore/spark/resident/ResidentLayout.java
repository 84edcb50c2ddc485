// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.ddstore.Catalog;
import org.ddstore.memory.RowDigest;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.Plural;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;

/**
 * The driver's knowledge of the executors that hold the shards of a resident store. Immutable; a
 * change returns a new version.
 */
public final class ResidentLayout {
  private final long version;
  private final Schema schema;
  private final ReplicaGroups groups;
  private final List<List<ShardReport>> parts;
  private final Set<Place> lost;

  /**
   * The logical place of a shard.
   *
   * @param part 0 for the load, n for the n-th append
   * @param rank rank that owns the shard
   */
  record Place(int part, int rank) {}

  private ResidentLayout(
      long version,
      Schema schema,
      ReplicaGroups groups,
      List<List<ShardReport>> parts,
      Set<Place> lost) {
    this.version = version;
    this.schema = schema;
    this.groups = groups;
    this.parts = List.copyOf(parts);
    this.lost = Set.copyOf(lost);
  }

  /**
   * Returns the layout of a first load.
   *
   * @param shards reports of the load, one per rank
   */
  public static ResidentLayout of(Schema schema, ReplicaGroups groups, List<ShardReport> shards) {
    return new ResidentLayout(1, schema, groups, List.of(byRank(groups, shards)), Set.of());
  }

  /** Orders reports so that the shard of member i of a group is at rank i of the group. */
  private static List<ShardReport> byRank(ReplicaGroups groups, List<ShardReport> shards) {
    ShardReport[] byRank = new ShardReport[groups.ranks()];
    for (int rank = 0; rank < byRank.length; rank++) {
      ShardReport shard = shards.get(rank);
      byRank[groups.groupOf(rank) * groups.width() + shard.member()] = shard;
    }
    return List.of(byRank);
  }

  ResidentLayout with(List<ShardReport> appended) {
    List<List<ShardReport>> more = new ArrayList<>(parts);
    more.add(byRank(groups, appended));
    return new ResidentLayout(version + 1, schema, groups, more, lost);
  }

  /** Marks the shards of executors as lost. Returns this layout if all are marked already. */
  public ResidentLayout without(Set<String> executorIds) {
    Set<Place> more = new HashSet<>(lost);
    forEach(
        (place, shard) -> {
          if (executorIds.contains(shard.executorId())) {
            more.add(place);
          }
        });
    return more.size() == lost.size()
        ? this
        : new ResidentLayout(version + 1, schema, groups, parts, more);
  }

  /** Returns the places of the shards on executors, without lost shards. */
  Set<Place> placesOn(Set<String> executorIds) {
    Set<Place> on = new HashSet<>(without(executorIds).lost);
    on.removeAll(lost);
    return on;
  }

  /** Describes the shards that would be lost with executors; empty if none would be. */
  public Optional<String> lossWith(Set<String> executorIds) {
    ResidentLayout left = without(executorIds);
    Set<Place> more = placesOn(executorIds);
    long gone = more.stream().filter(place -> !left.hasCopy(place)).count();
    return more.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "%s, %d of them without another copy".formatted(Plural.of(more.size(), "shard"), gone));
  }

  /** Replaces shards by rebuilt ones, which are no longer lost. */
  ResidentLayout withRebuilt(Map<Place, ShardReport> rebuilt) {
    List<List<ShardReport>> changed = new ArrayList<>();
    for (int part = 0; part < parts.size(); part++) {
      List<ShardReport> shards = new ArrayList<>();
      for (int rank = 0; rank < groups.ranks(); rank++) {
        shards.add(rebuilt.getOrDefault(new Place(part, rank), parts.get(part).get(rank)));
      }
      changed.add(shards);
    }
    Set<Place> still = new HashSet<>(lost);
    still.removeAll(rebuilt.keySet());
    return new ResidentLayout(version + 1, schema, groups, changed, still);
  }

  /**
   * Returns the shards that are lost, and were not in an earlier version.
   *
   * @param before earlier version; null if there is none
   */
  List<ShardReport> lostSince(ResidentLayout before) {
    return lost.stream()
        .filter(place -> before == null || !before.lost.contains(place))
        .map(this::shard)
        .toList();
  }

  /** Returns the shards that have other memory than in an earlier version. */
  List<ShardReport> shardsNotIn(ResidentLayout before) {
    List<ShardReport> changed = new ArrayList<>();
    forEach(
        (place, shard) -> {
          if (!shard.equals(before.shard(place))) {
            changed.add(shard);
          }
        });
    return changed;
  }

  /** Marks shards as lost that are lost in another version and did not change since. */
  ResidentLayout withLostOf(ResidentLayout other) {
    Set<Place> more = new HashSet<>(lost);
    for (Place place : other.lost) {
      if (shard(place).equals(other.shard(place))) {
        more.add(place);
      }
    }
    return new ResidentLayout(Math.max(version, other.version) + 1, schema, groups, parts, more);
  }

  private interface Visitor {
    void visit(Place place, ShardReport shard);
  }

  private void forEach(Visitor visitor) {
    for (int part = 0; part < parts.size(); part++) {
      for (int rank = 0; rank < groups.ranks(); rank++) {
        visitor.visit(new Place(part, rank), parts.get(part).get(rank));
      }
    }
  }

  long version() {
    return version;
  }

  public Schema schema() {
    return schema;
  }

  public ReplicaGroups groups() {
    return groups;
  }

  public String transport() {
    return parts.get(0).get(0).transport();
  }

  /** Returns the number of parts: one for the load, and one for each append. */
  public int parts() {
    return parts.size();
  }

  ShardReport shard(Place place) {
    return parts.get(place.part()).get(place.rank());
  }

  public Set<Place> lost() {
    return lost;
  }

  public long rows() {
    return rowsOf(parts.size());
  }

  long rowsOf(int firstParts) {
    return parts.subList(0, firstParts).stream()
        .flatMap(part -> part.subList(0, groups.width()).stream())
        .mapToLong(ShardReport::rows)
        .sum();
  }

  /** Returns the memory of one copy, in bytes. */
  public long bytes() {
    return parts.stream()
        .flatMap(part -> part.subList(0, groups.width()).stream())
        .mapToLong(ShardReport::bytes)
        .sum();
  }

  public String digest() {
    RowDigest sum = new RowDigest();
    parts.forEach(
        part ->
            part.subList(0, groups.width())
                .forEach(shard -> sum.add(shard.digestHigh(), shard.digestLow())));
    return sum.toString();
  }

  public List<ResidentShard> shards() {
    List<ResidentShard> all = new ArrayList<>();
    forEach(
        (place, shard) ->
            all.add(
                new ResidentShard(
                    place.rank(),
                    place.part(),
                    shard.firstRow(),
                    shard.rows(),
                    shard.bytes(),
                    shard.digest(),
                    shard.executorId(),
                    shard.host(),
                    lost.contains(place))));
    return all;
  }

  /** Returns the ranks of lost shards, ascending. */
  public List<Integer> lostRanks() {
    return lost.stream().map(Place::rank).distinct().sorted().toList();
  }

  /** Returns the number of rows of which no copy is left. */
  public long unreadableRows() {
    return lost.stream()
        .filter(place -> groups.groupOf(place.rank()) == 0 && !hasCopy(place))
        .mapToLong(place -> shard(place).rows())
        .sum();
  }

  /** Returns what each executor holds of shards that are not lost, ordered by its first rank. */
  List<ExecutorStatistics> holdings() {
    Map<String, List<Place>> byExecutor = new LinkedHashMap<>();
    for (int rank = 0; rank < groups.ranks(); rank++) {
      for (int part = 0; part < parts.size(); part++) {
        Place place = new Place(part, rank);
        if (!lost.contains(place)) {
          byExecutor.computeIfAbsent(shard(place).executorId(), id -> new ArrayList<>()).add(place);
        }
      }
    }
    List<ExecutorStatistics> all = new ArrayList<>();
    byExecutor.forEach(
        (id, places) -> {
          List<ShardReport> shards = places.stream().map(this::shard).toList();
          all.add(
              new ExecutorStatistics(
                  id,
                  shards.get(0).host(),
                  places.stream().map(Place::rank).distinct().toList(),
                  shards.size(),
                  shards.stream().mapToLong(ShardReport::rows).sum(),
                  shards.stream().mapToLong(ShardReport::bytes).sum(),
                  0,
                  0,
                  0,
                  List.of(),
                  List.of()));
        });
    return all;
  }

  /** Returns the ids of the executors that hold shards and are not known to be gone. */
  Set<String> executors() {
    Set<String> executors = new TreeSet<>();
    forEach(
        (place, shard) -> {
          if (!lost.contains(place)) {
            executors.add(shard.executorId());
          }
        });
    return executors;
  }

  /** Returns the processes that hold shards and are not known to be gone, by executor id. */
  public Map<String, ProcessAddress> processes() {
    Map<String, ProcessAddress> byExecutor = new TreeMap<>();
    forEach(
        (place, shard) -> {
          if (!lost.contains(place)) {
            byExecutor.put(shard.executorId(), shard.process());
          }
        });
    return byExecutor;
  }

  /**
   * Returns a catalog for each replica group. It names copies in other groups instead of the shards
   * that the group has lost.
   */
  List<Catalog> catalogs() {
    List<Catalog> all = new ArrayList<>();
    for (int group = 0; group < groups.groups(); group++) {
      all.add(catalog(group));
    }
    return all;
  }

  private Catalog catalog(int group) {
    List<SegmentAddress> segments = new ArrayList<>();
    for (int part = 0; part < parts.size(); part++) {
      for (int member = 0; member < groups.width(); member++) {
        segments.add(shard(live(part, group, member)).segment());
      }
    }
    return Catalog.of(groups.width(), StartedRank.ROWS, schema, segments);
  }

  /** Returns the place of a live copy of a shard, in the group itself if possible. */
  private Place live(int part, int group, int member) {
    Place own = new Place(part, group * groups.width() + member);
    for (int next = 0; next < groups.groups(); next++) {
      int other = (group + next) % groups.groups();
      Place place = new Place(part, other * groups.width() + member);
      if (!lost.contains(place)) {
        return place;
      }
    }
    return own;
  }

  /** Returns the ids of the executors that hold a copy of the shard of a place. */
  Set<String> holders(Place place) {
    Set<String> holders = new HashSet<>();
    for (int group = 0; group < groups.groups(); group++) {
      Place copy = new Place(place.part(), group * groups.width() + groups.memberOf(place.rank()));
      if (!lost.contains(copy)) {
        holders.add(shard(copy).executorId());
      }
    }
    return holders;
  }

  /** Returns whether some replica group has a live copy of the shard of a place. */
  boolean hasCopy(Place place) {
    int member = groups.memberOf(place.rank());
    return !lost.contains(live(place.part(), groups.groupOf(place.rank()), member));
  }

  /** Returns whether some rows have no live copy. */
  public boolean hasGaps() {
    return !lost.stream().allMatch(this::hasCopy);
  }

  /** Returns the first shard of a rank, whose executor is the home of the rank. */
  ResidentShard home(int rank) {
    return shards().get(rank);
  }

  /** Returns the id of the executor of each rank's first shard, even if it is lost. */
  public List<String> homes() {
    return parts.get(0).stream().map(ShardReport::executorId).toList();
  }

  /** Returns the preferred location of each rank's task; empty if its executor is lost. */
  public List<String> preferredLocations() {
    return shards().subList(0, groups.ranks()).stream()
        .map(shard -> shard.isLost() ? "" : shard.preferredLocation())
        .toList();
  }
}
