// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkContext;
import org.ddstore.spark.cluster.ExecutorStates;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.types.ProcessAddress;

/**
 * The current locations of the rows of a resident store. Appends, repairs and the loss of executors
 * change them. Thread-safe.
 */
public final class ResidentPlaces {
  private final ExecutorStates executors;
  private final BiConsumer<List<ShardReport>, ResidentLayout> onLost;
  private final Supplier<String> description;

  /** All processes that have ever held rows, by executor id. */
  private final Map<String, ProcessAddress> holders = new TreeMap<>(); // guarded by this

  /** Executors that are gone for good: they may also hold shards that are published later. */
  private final Set<String> gone = new HashSet<>(); // guarded by this

  private volatile ResidentLayout layout; // changed under this
  private volatile boolean ended; // set under this
  private volatile long losses; // changed under this

  /**
   * @param description description of the store, for exceptions
   */
  public ResidentPlaces(
      String name, SparkContext context, ResidentLayout layout, Supplier<String> description) {
    this(
        ExecutorStates.of(context),
        (lost, now) ->
            Interrupts.cleanUp(
                "record of lost shards", () -> new StoreEvents(context, name).lost(lost, now)),
        layout,
        description);
  }

  /**
   * @param onLost receiver of shards that are newly lost, with the layout afterwards; throws
   *     nothing, because the change has happened
   */
  ResidentPlaces(
      ExecutorStates executors,
      BiConsumer<List<ShardReport>, ResidentLayout> onLost,
      ResidentLayout layout,
      Supplier<String> description) {
    this.executors = executors;
    this.onLost = onLost;
    this.description = description;
    this.layout = layout;
    this.holders.putAll(layout.processes());
    this.losses = layout.lost().size();
  }

  public ResidentLayout now() {
    return layout;
  }

  /**
   * Replaces the layout: the commit point of a change. Does not look for lost executors, see {@link
   * #findLost}.
   *
   * @param to change of the layout, run under the lock of this object; nothing changes if it
   *     throws, as it does if {@link #isEnded()}
   * @return the layout before
   */
  ResidentLayout change(UnaryOperator<ResidentLayout> to) {
    ResidentLayout before;
    ResidentLayout after;
    List<ShardReport> lost;
    synchronized (this) {
      before = layout;
      ResidentLayout changed = to.apply(before);
      after = changed.without(gone);
      layout = after;
      holders.putAll(after.processes());
      lost = after.lostSince(before);
      losses += lost.size();
    }
    onLost.accept(lost, after);
    return before;
  }

  /** Marks the shards of executors as lost, also those that are published later. */
  public void markLost(Set<String> executorIds) {
    change(
        now -> {
          gone.addAll(executorIds);
          return now;
        });
  }

  /**
   * Asks Spark for lost executors, because its events arrive late or before a store is known, and
   * Spark drops events under load.
   *
   * @return the current layout
   */
  public ResidentLayout findLost() {
    markLost(executors.ended(layout.executors()));
    return layout;
  }

  /** Returns the number of shards that were lost so far. */
  public long losses() {
    return losses;
  }

  /** Returns the ids of executors that hold rows and are being decommissioned. */
  public Set<String> leaving() {
    return executors.leaving(layout.executors());
  }

  public boolean isEnded() {
    return ended;
  }

  /**
   * Marks the store as dropped.
   *
   * @return the processes that have rows to free; empty if the store was dropped before
   */
  public Optional<Collection<ProcessAddress>> end() {
    synchronized (this) {
      if (ended) {
        return Optional.empty();
      }
      ended = true;
    }
    return Optional.of(served());
  }

  /** Returns the processes that may have rows, also of former layouts, and have not ended. */
  public Collection<ProcessAddress> served() {
    return servedById().values();
  }

  /** Returns the processes of {@link #served}, by executor id. */
  Map<String, ProcessAddress> servedById() {
    Map<String, ProcessAddress> left;
    synchronized (this) {
      left = new TreeMap<>(holders);
    }
    Set<String> known = layout.executors();
    left.keySet().removeIf(id -> !known.contains(id) && !executors.serves(id));
    return left;
  }

  /** Returns whether Spark has not removed an executor. */
  boolean serves(String executorId) {
    return executors.serves(executorId);
  }

  public void checkLive() {
    if (ended) {
      throw droppedException(null);
    }
  }

  /**
   * Returns the exception of a store that has been dropped.
   *
   * @param failure failure that the drop has caused; null if there is none
   */
  IllegalStateException droppedException(RuntimeException failure) {
    return new IllegalStateException("dropped: " + description.get(), failure);
  }
}
