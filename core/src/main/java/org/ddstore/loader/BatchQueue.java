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
 * The batches in flight of a loader, in delivery order, the sources of further batches, used one
 * after the other, and the idle slots: decides what may be planned, read and delivered next. Never
 * waits and never wakes a thread. Guarded by the pipeline.
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
  private final Deque<BatchSource> sources = new ArrayDeque<>();
  private final ReadQueue toRead;
  private final Pace planPace = new Pace();
  private final Pace readPace = new Pace();
  private final int depth;
  private final int workers;
  private final int wakeBatches;
  private Entry planning; // at most one batch is planned at a time
  private long cancelledNanos;
  private boolean lacksMemory;
  private int ready; // whether or not they are next
  private boolean lastWasQuick;
  private boolean retired;

  BatchQueue(Recipe recipe, LoaderOptions options) {
    this.recipe = recipe;
    this.depth = options.depth();
    this.workers = options.workers();
    this.wakeBatches = Math.min(depth / 2, QUICK_AT_ONCE);
    this.budget = new MemoryBudget(options.maxBytes(), recipe);
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
    sources.add(source);
  }

  /** Returns whether there is a batch to plan and a slot for it; ignores memory. */
  boolean hasPlace() {
    return !sources.isEmpty()
        && !idle.isEmpty()
        && inOrder.size() < depth
        && toRead.size() < neededPlans();
  }

  private int neededPlans() {
    return toRead.neededPlans(workers, readPace.isQuick());
  }

  /**
   * Returns whether the workers will soon run out of planned batches. The planner is woken then,
   * for several batches at once. Measured 2026-11-23, two cores, 64 rows a batch, consumer that
   * does not read batches itself: if the planner is woken for each, an epoch takes 1.1 times as
   * long.
   */
  boolean runsShort() {
    return toRead.size() <= neededPlans() / 4;
  }

  boolean isPlanning() {
    return planning != null;
  }

  /**
   * Allows another batch to be planned if a cancelled iterator has kept running for the given time:
   * the new batch is of another source, and the result of the iterator is discarded. Frees the
   * memory of the slot, which holds only a plan.
   *
   * @return false if there is no such iterator
   */
  boolean abandonPlan(long afterNanos) {
    boolean isStuck =
        planning != null
            && planning.isCancelled()
            && planning.source().isPushed()
            && System.nanoTime() - cancelledNanos >= afterNanos;
    if (isStuck) {
      Slot slot = planning.slot();
      planning = null;
      budget.freed(slot);
      slot.free();
    }
    return isStuck;
  }

  /** Returns whether planning waits for memory to be given back. */
  boolean lacksMemory() {
    return lacksMemory;
  }

  /** Returns whether a batch can be planned that is expected to be quick and not to wait. */
  boolean plansQuickly() {
    return planning == null && hasPlace() && planPace.isQuick() && sources.peek().neverWaits();
  }

  /** Returns a batch to plan while no other is planned; null without a slot or memory. */
  Entry beginPlan() {
    boolean hasPlace = hasPlace();
    lacksMemory = hasPlace && !budget.tryReserve(idle.peek(), sources.peek().maxSize(), idle);
    if (!hasPlace || lacksMemory) {
      return null;
    }
    planning = new Entry(sources.peek(), idle.remove());
    return planning;
  }

  /** Records the outcome of {@link #beginPlan}: a batch, the end of its source, or an error. */
  void planned(Entry entry, Throwable error, long nanos) {
    if (planning == entry) {
      planning = null;
    }
    if (entry.exists() && entry.isFull()) {
      planPace.record(nanos);
    }
    if (!isWanted(entry)) {
      recycle(entry.slot());
    } else if (error != null) {
      sources.clear();
      entry.ready(null, error);
      inOrder.add(entry);
      ready++;
    } else if (entry.exists()) {
      inOrder.add(entry);
      toRead.add(entry);
    } else {
      sources.remove(entry.source());
      recycle(entry.slot());
    }
  }

  /** Returns whether planned batches should be read now. */
  boolean mayRead() {
    boolean cannotGrow = lacksMemory || (sources.isEmpty() && planning == null);
    return toRead.mayRead(inOrder.peek(), cannotGrow);
  }

  /** Returns whether one batch may be read alone, and is expected to be quick. */
  boolean readsQuickly() {
    return recipe.readsAtOnce() && !toRead.readsTogether() && readPace.isQuick() && mayRead();
  }

  /** Takes the batches of one combined read, directly after {@link #mayRead} returned true. */
  List<Entry> beginRead() {
    return toRead.take(inOrder.peek());
  }

  void putBack(Entry entry) {
    toRead.putBack(entry);
  }

  /** Records the outcome of one batch of {@link #beginRead}: a batch or an error. */
  void finished(Entry entry, LoadedBatch batch, Throwable error, long nanos) {
    lastWasQuick = Pace.isQuick(nanos);
    if (!isWanted(entry)) {
      discard(batch);
      recycle(entry.slot());
      return;
    }
    if (error == null) {
      if (entry.isFull()) {
        readPace.record(nanos);
      }
      budget.recordSize(entry.slot(), entry.source().maxSize());
      toRead.recordRead(entry.slot());
      entry.ready(batch, null);
    } else {
      discard(batch);
      sources.clear();
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

  int size() {
    return inOrder.size();
  }

  void giveOut() {
    held.add(inOrder.element().slot());
    inOrder.remove();
    ready--;
  }

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

  /** Cancels all batches; the memory of a slot is freed when a thread gives the slot back. */
  void retire() {
    retired = true;
  }

  /** Cancels all undelivered batches; a thread that works on one gives its slot back. */
  void forget() {
    sources.clear();
    if (planning != null && !planning.isCancelled()) {
      planning.cancel();
      cancelledNanos = System.nanoTime();
    }
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

  void freeIdle() {
    Cleanup.runAll(idle.stream().map(slot -> slot::free));
  }

  /** Frees the slots that threads lost by a failure; not those of the consumer. */
  void freeLost() {
    Cleanup.runAll(slots.stream().filter(slot -> !held.contains(slot)).map(slot -> slot::free));
  }

  @Override
  public String toString() {
    return "%d of at most %d batches planned, %d held by the consumer, sources left: %d, batch memory: %s"
        .formatted(inOrder.size(), depth, held.size(), sources.size(), budget);
  }
}
