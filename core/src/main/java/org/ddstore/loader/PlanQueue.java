package org.ddstore.loader;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The sources of batches, one after the other, and the one batch that is being planned. Guarded by
 * the pipeline.
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
   * @param idle the slots that nobody uses, as they are at any time
   */
  PlanQueue(MemoryBudget budget, Deque<Slot> idle) {
    this.budget = budget;
    this.idle = idle;
  }

  void add(BatchSource source) {
    sources.add(source);
  }

  /** How many sources are left. */
  int sources() {
    return sources.size();
  }

  /** Leaves out all that is not planned yet. */
  void clear() {
    sources.clear();
  }

  /** As {@link #clear()}, with what is being planned. */
  void cancel() {
    clear();
    if (planning != null && !planning.isCancelled()) {
      planning.cancel();
      cancelledNanos = System.nanoTime();
    }
  }

  /**
   * Lets another batch be planned while an iterator that was cancelled so long ago still runs: it
   * is of no other source, and what it gives is not wanted.
   *
   * @return the slot of the one that was cancelled, which only plans; null if there is none
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

  /** Whether somebody plans: one at a time. */
  boolean isPlanning() {
    return planning != null;
  }

  /** Whether there is something to plan and a slot for it; whether there is memory is not asked. */
  boolean hasSlot() {
    return !sources.isEmpty() && !idle.isEmpty();
  }

  /** Whether no more is planned until memory is given back. */
  boolean lacksMemory() {
    return lacksMemory;
  }

  /** Whether no more will be planned for now. */
  boolean isAtEnd() {
    return sources.isEmpty() && planning == null;
  }

  /** Whether the next batch is planned quickly, without a wait, as far as one can tell. */
  boolean isQuick() {
    return pace.isQuick() && sources.peek().neverWaits();
  }

  /**
   * Takes the next batch to be planned, while nobody plans.
   *
   * @param hasPlace whether one more may be planned: {@link #hasSlot()}, and what else counts
   * @return null if there is no place or no memory for it
   */
  Entry begin(boolean hasPlace) {
    lacksMemory = hasPlace && !budget.tryReserve(idle.peek(), sources.peek().maxSize(), idle);
    if (!hasPlace || lacksMemory) {
      return null;
    }
    planning = new Entry(sources.peek(), idle.remove());
    return planning;
  }

  /** What was begun is planned, or not to be. */
  void end(Entry entry, long nanos) {
    if (planning == entry) {
      planning = null;
    }
    if (entry.exists() && entry.isFull()) {
      pace.took(nanos);
    }
  }

  /** A source has no more. */
  void end(BatchSource source) {
    sources.remove(source);
  }
}
