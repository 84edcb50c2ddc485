package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.HashSet;
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
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;

/**
 * Which executor holds what of a resident store, as the driver knows it. Immutable; a change makes
 * a new version.
 */
public final class ResidentLayout {
  private final long version;
  private final Schema schema;
  private final ReplicaGroups groups;
  private final List<List<ShardReport>> parts;
  private final Set<Place> lost;

  /**
   * The place of a shard.
   *
   * @param part 0 for the load, then one more for each append
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
   * @param shards of a load, one of each of its ranks
   */
  public static ResidentLayout of(Schema schema, ReplicaGroups groups, List<ShardReport> shards) {
    return new ResidentLayout(1, schema, groups, List.of(byRank(groups, shards)), Set.of());
  }

  /** From now on the rank that holds a shard is the one of that number in its group. */
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

  /** With what executors held marked as lost; this one if that is nothing new. */
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

  /** The places of the shards that are on executors, and not lost. */
  Set<Place> placesOn(Set<String> executorIds) {
    Set<Place> on = new HashSet<>(without(executorIds).lost);
    on.removeAll(lost);
    return on;
  }

  /** What would be lost with executors, for people; empty if nothing. */
  public Optional<String> lossWith(Set<String> executorIds) {
    ResidentLayout left = without(executorIds);
    Set<Place> more = placesOn(executorIds);
    long gone = more.stream().filter(place -> !left.hasCopy(place)).count();
    return more.isEmpty()
        ? Optional.empty()
        : Optional.of("%d shards; of %d of them no copy is left".formatted(more.size(), gone));
  }

  /** With shards that stand in the place of lost ones. */
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

  /** With what was lost in another version of it, of the same shards, marked as lost. */
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

  /** How rows are read that memory does not reach, and why so; for people. */
  public String transport() {
    return parts.get(0).get(0).transport();
  }

  /** One for the load, and one for each append. */
  public int parts() {
    return parts.size();
  }

  ShardReport shard(Place place) {
    return parts.get(place.part()).get(place.rank());
  }

  public Set<Place> lost() {
    return lost;
  }

  /** The rows of one copy. */
  public long rows() {
    return rowsOf(parts.size());
  }

  /** The rows of the load and the first appends. */
  long rowsOf(int firstParts) {
    return parts.subList(0, firstParts).stream()
        .flatMap(part -> part.subList(0, groups.width()).stream())
        .mapToLong(ShardReport::rows)
        .sum();
  }

  /** Bytes of memory of one copy. */
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

  /** The executors that hold something, as far as they are not known to be gone. */
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

  /** The processes that hold something, as far as they are not known to be gone, by executor. */
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
   * A catalog for each replica group, which names shards of another group in the place of those
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

  /** The place of a shard that is not lost, that of the group if possible. */
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

  /** The executors that have a copy of what is, or was, at a place. */
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

  /** Whether another replica group has what was lost at a place. */
  boolean hasCopy(Place place) {
    int member = groups.memberOf(place.rank());
    return !lost.contains(live(place.part(), groups.groupOf(place.rank()), member));
  }

  /** Whether some rows are nowhere any more. */
  public boolean hasGaps() {
    return !lost.stream().allMatch(this::hasCopy);
  }

  /** The first shard of a rank: where the rank belongs. */
  ResidentShard home(int rank) {
    return shards().get(rank);
  }

  /** The executor of each rank's first shard, also if it is lost. */
  public List<String> homes() {
    return parts.get(0).stream().map(ShardReport::executorId).toList();
  }

  /** What tasks of the ranks prefer; empty for those whose executor is lost. */
  public List<String> preferredLocations() {
    return shards().subList(0, groups.ranks()).stream()
        .map(shard -> shard.isLost() ? "" : shard.preferredLocation())
        .toList();
  }
}
