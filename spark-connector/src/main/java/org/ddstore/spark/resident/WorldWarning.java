package org.ddstore.spark.resident;

import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Warns of replicas that one MPI world would take with it. */
public final class WorldWarning {
  private WorldWarning() {}

  /**
   * Replicas of a store whose copies of some shard are all in one MPI world: it ends with the first
   * executor that it loses.
   *
   * @param name of the store
   * @param world executors of an MPI world
   */
  public static Optional<String> of(String name, ResidentLayout layout, Set<String> world) {
    boolean isUnprotected =
        layout.groups().groups() > 1 && !layout.hasGaps() && layout.without(world).hasGaps();
    if (!isUnprotected) {
      return Optional.empty();
    }
    return Optional.of(
        "all copies of shards of \"%s\" are on executors %s, which are one MPI world: when one of them is lost all are replaced, and rows are loaded again from their source. Use tcp for jobs beside such a store, or run them in another application"
            .formatted(name, new TreeSet<>(world)));
  }
}
