package org.ddstore.spark.resident;

import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** A warning of replicas that are all in one MPI world. */
public final class WorldWarning {
  private WorldWarning() {}

  /**
   * Returns a warning if all copies of some shard of a store are in one MPI world, which ends when
   * it loses its first executor.
   *
   * @param name name of the store
   * @param world ids of the executors of an MPI world
   */
  public static Optional<String> of(String name, ResidentLayout layout, Set<String> world) {
    boolean isUnprotected =
        layout.groups().groups() > 1 && !layout.hasGaps() && layout.without(world).hasGaps();
    if (!isUnprotected) {
      return Optional.empty();
    }
    return Optional.of(
        "all copies of shards of \"%s\" are on executors %s of one MPI world: if one of them is lost, all are replaced, and rows are loaded again from their source. Use tcp for jobs beside this store, or run them in another application"
            .formatted(name, new TreeSet<>(world)));
  }
}
