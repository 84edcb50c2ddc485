// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A queue of batch sources, used one after the other, with the one batch that is being planned.
 * Guarded by the pipeline.
 */
final class PlanQueue {
  private final Deque<BatchSource> sources = new ArrayDeque<>();
  private final Deque<Slot> idle;
  private final MemoryBudget budget;
  private Entry planning;
  private long cancelledNanos;
  private final Pace pace = new Pace();
  private boolean lacksMemory;

  /**
   * Creates a queue.
   *
   * @param idle live view of the idle slots
   */
  PlanQueue(MemoryBudget budget, Deque<Slot> idle) {
    this.budget = budget;
    this.idle = idle;
  }

  void add(BatchSource source) {
    sources.add(source);
  }

  /** Returns the number of remaining sources. */
  int sources() {
    return sources.size();
  }

  /** Removes all sources; a batch that is being planned stays. */
  void clear() {
    sources.clear();
  }

  /** Removes all sources and cancels the batch that is being planned. */
  void cancel() {
    clear();
    if (planning != null && !planning.isCancelled()) {
      planning.cancel();
      cancelledNanos = System.nanoTime();
    }
  }

  /**
   * Allows another batch to be planned while a cancelled iterator has kept running for the given
   * time: the new batch is of another source, and the result of the iterator is discarded.
   *
   * @return the slot of the cancelled batch, which holds only a plan; null if there is none
   */
  Slot abandon(long afterNanos) {
    boolean isStuck =
        planning != null
            && planning.isCancelled()
            && planning.source().isPushed()
            && System.nanoTime() - cancelledNanos >= afterNanos;
    if (!isStuck) {
      return null;
    }
    Slot slot = planning.slot();
    planning = null;
    return slot;
  }

  /** Returns whether a batch is being planned; at most one is at a time. */
  boolean isPlanning() {
    return planning != null;
  }

  /** Returns whether there is a batch to plan and a slot for it; ignores memory. */
  boolean hasSlot() {
    return !sources.isEmpty() && !idle.isEmpty();
  }

  /** Returns whether planning waits for memory to be given back. */
  boolean lacksMemory() {
    return lacksMemory;
  }

  /** Returns whether no more batches will be planned for now. */
  boolean isAtEnd() {
    return sources.isEmpty() && planning == null;
  }

  /** Returns whether the next batch is expected to be planned quickly and without a wait. */
  boolean isQuick() {
    return pace.isQuick() && sources.peek().neverWaits();
  }

  /**
   * Takes the next batch to plan; no other batch must be being planned.
   *
   * @param hasPlace whether one more batch may be planned: {@link #hasSlot()} and the caller's
   *     conditions
   * @return null if there is no slot or no memory for it
   */
  Entry begin(boolean hasPlace) {
    lacksMemory = hasPlace && !budget.tryReserve(idle.peek(), sources.peek().maxSize(), idle);
    if (!hasPlace || lacksMemory) {
      return null;
    }
    planning = new Entry(sources.peek(), idle.remove());
    return planning;
  }

  /** Records that the planning of a batch has ended, with or without a batch. */
  void end(Entry entry, long nanos) {
    if (planning == entry) {
      planning = null;
    }
    if (entry.exists() && entry.isFull()) {
      pace.took(nanos);
    }
  }

  /** Removes an exhausted source. */
  void end(BatchSource source) {
    sources.remove(source);
  }
}
