// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.ddstore.types.Cleanup;

/**
 * The batches in flight of a loader, in delivery order, and the idle slots: decides what may be
 * planned, read and delivered next. Never waits and never wakes a thread. Guarded by the pipeline.
 */
final class BatchQueue {
  /** Number of quickly made batches that are handed to a waiting consumer together. */
  private static final int QUICK_AT_ONCE = 4;

  private final List<Slot> slots;
  private final Deque<Slot> idle = new ArrayDeque<>();
  private final Set<Slot> held = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Deque<Entry> inOrder = new ArrayDeque<>();
  private final Recipe recipe;
  private final MemoryBudget budget;
  private final PlanQueue toPlan;
  private final ReadQueue toRead;
  private final Pace readPace = new Pace();
  private final int depth;
  private final int workers;
  private final int wakeBatches;
  private int ready; // whether or not they are next
  private boolean lastWasQuick;
  private boolean retired;

  BatchQueue(Recipe recipe, LoaderOptions options) {
    this.recipe = recipe;
    this.depth = options.depth();
    this.workers = options.workers();
    this.wakeBatches = Math.min(depth / 2, QUICK_AT_ONCE);
    this.budget = new MemoryBudget(options.maxBytes(), recipe);
    this.toPlan = new PlanQueue(budget, idle);
    this.toRead = new ReadQueue(budget, idle, depth);
    long count = depth + 1L; // one more slot, for the consumer
    this.slots = Stream.generate(() -> new Slot(recipe)).limit(count).toList();
    idle.addAll(slots);
  }

  /**
   * Rejects batches that can never fit into the memory budget.
   *
   * @param samples samples per batch
   */
  void check(int samples) {
    budget.check(samples);
  }

  void add(BatchSource source) {
    toPlan.add(source);
  }

  /** Returns whether there is a batch to plan and a slot for it; ignores memory. */
  boolean hasPlace() {
    return toPlan.hasSlot() && inOrder.size() < depth && toRead.size() < enough();
  }

  /** Returns the number of planned batches that keeps the workers busy. */
  private int enough() {
    return toRead.enough(workers, readPace.isQuick());
  }

  /**
   * Returns whether the workers will soon run out of planned batches. The planner is woken then,
   * for several batches at once. Measured 2026-11-23, two cores, 64 rows a batch, consumer that
   * does not read batches itself: if the planner is woken for each, an epoch takes 1.1 times as
   * long.
   */
  boolean runsShort() {
    return toRead.size() <= enough() / 4;
  }

  boolean isPlanning() {
    return toPlan.isPlanning();
  }

  /**
   * Calls {@link PlanQueue#abandon} and frees the memory of the returned slot; returns whether
   * there was one.
   */
  boolean abandonPlan(long afterNanos) {
    Slot slot = toPlan.abandon(afterNanos);
    if (slot == null) {
      return false;
    }
    budget.freed(slot);
    slot.free();
    return true;
  }

  /** Returns whether planning waits for memory to be given back. */
  boolean lacksMemory() {
    return toPlan.lacksMemory();
  }

  /** Returns whether a batch can be planned that is expected to be quick and not to wait. */
  boolean plansQuickly() {
    return !toPlan.isPlanning() && hasPlace() && toPlan.isQuick();
  }

  /**
   * Returns a batch to plan while no other is being planned; null without a slot or memory for it.
   */
  Entry beginPlan() {
    return toPlan.begin(hasPlace());
  }

  /**
   * Records the outcome of {@link #beginPlan}: a batch to read, the end of its source, or an error.
   */
  void planned(Entry entry, Throwable error, long nanos) {
    toPlan.end(entry, nanos);
    if (!isWanted(entry)) {
      recycle(entry.slot());
    } else if (error != null) {
      toPlan.clear();
      entry.ready(null, error);
      inOrder.add(entry);
      ready++;
    } else if (entry.exists()) {
      inOrder.add(entry);
      toRead.add(entry);
    } else {
      toPlan.end(entry.source());
      recycle(entry.slot());
    }
  }

  /** Returns whether planned batches should be read now. */
  boolean mayRead() {
    boolean cannotGrow = toPlan.lacksMemory() || toPlan.isAtEnd();
    return toRead.mayRead(inOrder.peek(), cannotGrow);
  }

  /**
   * Returns whether {@link #mayRead} holds for one batch alone that is expected to be quick and not
   * to wait.
   */
  boolean readsQuickly() {
    return recipe.readsAtOnce() && !toRead.readsTogether() && readPace.isQuick() && mayRead();
  }

  /** Takes the batches of one combined read, directly after {@link #mayRead} returned true. */
  List<Entry> beginRead() {
    return toRead.take(inOrder.peek());
  }

  /** Puts an unread batch back in front of all others. */
  void putBack(Entry entry) {
    toRead.putBack(entry);
  }

  /** Records the outcome of one batch of {@link #beginRead}: a batch or an error. */
  void made(Entry entry, LoadedBatch batch, Throwable error, long nanos) {
    lastWasQuick = Pace.isQuick(nanos);
    if (!isWanted(entry)) {
      discard(batch);
      recycle(entry.slot());
      return;
    }
    if (error == null) {
      if (entry.isFull()) {
        readPace.took(nanos);
      }
      budget.took(entry.slot(), entry.source().maxSize());
      toRead.wasRead(entry.slot());
      entry.ready(batch, null);
    } else {
      discard(batch);
      toPlan.clear();
      entry.ready(null, error);
    }
    ready++;
  }

  /** Returns whether a batch will still be delivered. Once false, it stays false. */
  boolean isWanted(Entry entry) {
    return !retired && !entry.isCancelled();
  }

  /** Closes an undelivered batch and invalidates the tensors that a transform may have kept. */
  static void discard(LoadedBatch batch) {
    if (batch != null) {
      batch.discard();
    }
  }

  /** Returns the entry to be delivered next; null while it is not ready. */
  Entry firstReady() {
    Entry first = inOrder.peek();
    return first != null && first.isReady() ? first : null;
  }

  /**
   * Returns whether to wake the consumer later, for several batches at once: batches come so
   * quickly that a wake-up for each costs as much. If the next batch is not quick, the consumer
   * finds the ready ones by itself. Measured 2026-11-23, two cores, 64 rows a batch, consumer that
   * does not read batches itself: without this, an epoch takes 1.1 times as long at 256 bytes a
   * row, 1.3 times at 4 KiB.
   */
  boolean gathersReady(int idleWorkers) {
    return lastWasQuick && idleWorkers < workers && ready < wakeBatches;
  }

  /** Returns the number of planned batches that are not yet delivered. */
  int size() {
    return inOrder.size();
  }

  /** Takes {@link #firstReady} for the consumer. */
  void giveOut() {
    held.add(inOrder.element().slot());
    inOrder.remove();
    ready--;
  }

  /** Takes back the slot of a batch that the consumer has closed. */
  void giveBack(Slot slot) {
    held.remove(slot);
    recycle(slot);
  }

  private void recycle(Slot slot) {
    if (retired) {
      budget.freed(slot);
      slot.free();
    }
    // The next batch reuses memory that is still in the caches. Measured 2026-11-27, two cores, 64
    // rows a batch: with the oldest slot, an epoch takes 1.05 to 1.08 times as long.
    idle.addFirst(slot);
  }

  /** Cancels all batches; memory is freed as soon as it is given back. */
  void retire() {
    retired = true;
  }

  /** Cancels all undelivered batches; a thread that works on one gives its slot back. */
  void forget() {
    toPlan.cancel();
    List<Entry> all = List.copyOf(inOrder);
    inOrder.clear();
    ready = 0;
    Cleanup.runAll(all.stream().map(entry -> () -> forget(entry)));
  }

  private void forget(Entry entry) {
    if (entry.isReady() || toRead.remove(entry)) {
      discard(entry.batch());
      recycle(entry.slot());
    } else {
      entry.cancel();
    }
  }

  /** Frees the idle slots. */
  void freeIdle() {
    Cleanup.runAll(idle.stream().map(slot -> slot::free));
  }

  /**
   * Frees the slots that were never given back, except the consumer's: those of threads that failed
   * between taking a slot and reporting the outcome.
   */
  void freeLost() {
    Cleanup.runAll(slots.stream().filter(slot -> !held.contains(slot)).map(slot -> slot::free));
  }

  /** Returns a human-readable description. */
  @Override
  public String toString() {
    return "%d of at most %d batches planned, %d held by the consumer, sources left: %d, batch memory: %s"
        .formatted(inOrder.size(), depth, held.size(), toPlan.sources(), budget);
  }
}
