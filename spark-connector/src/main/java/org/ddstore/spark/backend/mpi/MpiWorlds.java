// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.types.Plural;

/**
 * The MPI worlds of an application's executors, as far as the driver has seen them run ranks, and
 * the executors that must be replaced because their world has lost a member. An executor stays in
 * one world as long as it lives.
 */
final class MpiWorlds {
  private static final Map<SparkContext, MpiWorlds> ALL =
      Collections.synchronizedMap(new WeakHashMap<>());

  private final List<Set<String>> worlds = new ArrayList<>();
  private final Set<String> condemned = new TreeSet<>();

  static MpiWorlds of(SparkContext context) {
    return ALL.computeIfAbsent(context, c -> new MpiWorlds());
  }

  /** Records that executors have run the ranks of a store, so they are in one world. */
  synchronized void recordWorld(Collection<String> executors) {
    if (worlds.stream().noneMatch(world -> world.containsAll(executors))) {
      worlds.removeIf(world -> meets(world, executors)); // disproved by the new one
      worlds.add(new TreeSet<>(executors));
    }
  }

  /** Records that ranks failed after their allGather, so their executors may be in one world. */
  synchronized void recordPossibleWorld(Collection<String> executors) {
    if (!executors.isEmpty() && worlds.stream().noneMatch(world -> meets(world, executors))) {
      worlds.add(new TreeSet<>(executors));
    }
  }

  /** Returns the executor ids of each known world. */
  synchronized List<Set<String>> all() {
    return worlds.stream().map(Set::copyOf).toList();
  }

  synchronized void markForReplacement(Collection<String> executors) {
    condemned.addAll(executors);
    for (Iterator<Set<String>> each = worlds.iterator(); each.hasNext(); ) {
      Set<String> world = each.next();
      if (meets(world, executors)) {
        condemned.addAll(world);
        each.remove();
      }
    }
  }

  /**
   * Returns the executors that must be replaced before the next store, including those of worlds
   * that have lost a member since the last call.
   *
   * @param present ids of the live executors
   */
  synchronized Set<String> toReplace(Collection<String> present) {
    List.copyOf(worlds).stream()
        .filter(world -> !present.containsAll(world))
        .forEach(this::markForReplacement);
    condemned.retainAll(present);
    return new TreeSet<>(condemned);
  }

  /**
   * Returns a warning if a store has fewer ranks than executors: its executors form the world, and
   * Spark may choose others for the next store.
   *
   * @param present ids of the live executors
   */
  synchronized Optional<String> advice(Collection<String> present, int ranks) {
    boolean fixed =
        ranks >= present.size() || worlds.stream().anyMatch(world -> world.containsAll(present));
    return fixed
        ? Optional.empty()
        : Optional.of(
            "%s %d of %d executors out of the MPI world; a later store that uses one of them forces the replacement of all executors, and their caches are lost: use %s=%d for the first store, or %s"
                .formatted(
                    Plural.of(ranks, "rank leaves", "ranks leave"),
                    present.size() - ranks,
                    present.size(),
                    OptionKeys.SETTING_RANKS,
                    present.size(),
                    Plural.of(ranks, "executor")));
  }

  private static boolean meets(Collection<String> some, Collection<String> others) {
    return !Collections.disjoint(some, others);
  }
}
