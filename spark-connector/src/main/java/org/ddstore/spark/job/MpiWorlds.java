package org.ddstore.spark.job;

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

/**
 * Which executors of an application are in an MPI world together, as far as the driver has seen
 * them run ranks, and which of them have to be replaced because their world has lost a member: an
 * executor is in one world as long as it lives.
 */
public final class MpiWorlds {
  private static final Map<SparkContext, MpiWorlds> ALL =
      Collections.synchronizedMap(new WeakHashMap<>());

  private final List<Set<String>> worlds = new ArrayList<>();
  private final Set<String> condemned = new TreeSet<>();
  private boolean refilling;

  /** Those of the executors of a context. */
  public static MpiWorlds of(SparkContext context) {
    return ALL.computeIfAbsent(context, c -> new MpiWorlds());
  }

  /** Executors have run the ranks of a store: they are in one world. */
  synchronized void joined(Collection<String> executors) {
    if (worlds.stream().noneMatch(world -> world.containsAll(executors))) {
      worlds.removeIf(world -> meets(world, executors)); // it was none, or this one would not be
      worlds.add(new TreeSet<>(executors));
    }
  }

  /** The ranks of a store have met on executors, and failed: these may be in a world. */
  synchronized void tried(Collection<String> executors) {
    if (!executors.isEmpty() && worlds.stream().noneMatch(world -> meets(world, executors))) {
      worlds.add(new TreeSet<>(executors));
    }
  }

  /** The worlds that there are. */
  public synchronized List<Set<String>> all() {
    return worlds.stream().map(Set::copyOf).toList();
  }

  /** The worlds of executors are of no use any more: all of their members, and these. */
  synchronized void condemn(Collection<String> executors) {
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
   * The executors that have to be replaced before the next store; also those of a world that has
   * lost a member since the last one.
   *
   * @param present the executors that live
   */
  synchronized Set<String> toReplace(Collection<String> present) {
    List.copyOf(worlds).stream()
        .filter(world -> !present.containsAll(world))
        .forEach(this::condemn);
    condemned.retainAll(present);
    return new TreeSet<>(condemned);
  }

  /**
   * Whether executors were ended that the cluster manager has yet to replace.
   *
   * @param refilling false once all slots have been there
   */
  synchronized void refilling(boolean refilling) {
    this.refilling = refilling;
  }

  /** See {@link #refilling}. */
  synchronized boolean isRefilling() {
    return refilling;
  }

  /**
   * What to tell who starts fewer ranks than there are executors: these make the world, and Spark
   * may choose others for the next store.
   *
   * @param present the executors that live
   */
  synchronized Optional<String> advice(Collection<String> present, int ranks) {
    boolean fixed =
        ranks >= present.size() || worlds.stream().anyMatch(world -> world.containsAll(present));
    return fixed
        ? Optional.empty()
        : Optional.of(
            "%d ranks leave %d of %d executors out of the MPI world; a later store that gets one of them makes all be replaced, and what they have cached is lost: use spark.ddstore.ranks=%d for the first store, or %d executors"
                .formatted(ranks, present.size() - ranks, present.size(), present.size(), ranks));
  }

  private static boolean meets(Collection<String> some, Collection<String> others) {
    return !Collections.disjoint(some, others);
  }
}
