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
 * The batches of a loader that are on their way, in the order in which they are given out, and the
 * slots that nobody uses: what may be planned, read and given out next. It waits for nothing and
 * wakes nobody. Guarded by the pipeline.
 */
final class BatchQueue {
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
  private int ready;
  private boolean retired;

  BatchQueue(Recipe recipe, LoaderOptions options) {
    this.recipe = recipe;
    this.depth = options.depth();
    this.workers = options.workers();
    this.budget = new MemoryBudget(options.maxBytes(), recipe);
    this.toPlan = new PlanQueue(budget, idle);
    this.toRead = new ReadQueue(budget, idle, depth);
    long count = depth + 1L; // the one more is the consumer's
    this.slots = Stream.generate(() -> new Slot(recipe)).limit(count).toList();
    idle.addAll(slots);
  }

  /**
   * Refuses batches that never fit into the memory.
   *
   * @param samples of a batch
   */
  void check(int samples) {
    budget.check(samples);
  }

  void add(BatchSource source) {
    toPlan.add(source);
  }

  /** Whether there is something to plan and a slot for it; whether there is memory is not asked. */
  boolean hasPlace() {
    return toPlan.hasSlot() && inOrder.size() < depth && toRead.size() < enough();
  }

  /** How many planned batches keep the workers busy. */
  private int enough() {
    return toRead.enough(workers, readPace.isQuick());
  }

  /** Whether so few are planned that workers will soon have none. */
  boolean runsShort() {
    return toRead.size() <= enough() / 4;
  }

  /** Whether fewer are planned than half of what keeps the workers busy. */
  boolean hasFewPlanned() {
    return toRead.size() < enough() / 2;
  }

  boolean isPlanning() {
    return toPlan.isPlanning();
  }

  /** As {@link PlanQueue#abandon}, true if there was one; what memory it has is freed. */
  boolean abandonPlan(long afterNanos) {
    Slot slot = toPlan.abandon(afterNanos);
    if (slot == null) {
      return false;
    }
    budget.freed(slot);
    slot.free();
    return true;
  }

  /** Whether no more is planned until memory is given back. */
  boolean lacksMemory() {
    return toPlan.lacksMemory();
  }

  /** Whether there is one to plan, quickly and without a wait, as far as one can tell. */
  boolean plansQuickly() {
    return !toPlan.isPlanning() && hasPlace() && toPlan.isQuick();
  }

  /** A batch to be planned, while none is being planned; null if there is no place or memory. */
  Entry beginPlan() {
    return toPlan.begin(hasPlace());
  }

  /** What became of {@link #beginPlan}: a batch to be read, the end of its source, or an error. */
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

  /** Whether some that are planned are to be read now. */
  boolean mayRead() {
    boolean cannotGrow = toPlan.lacksMemory() || toPlan.isAtEnd();
    return toRead.mayRead(inOrder.peek(), cannotGrow);
  }

  /** As {@link #mayRead}, one alone, quickly and without a wait, as far as one can tell. */
  boolean readsQuickly() {
    return recipe.readsAtOnce() && !toRead.readsTogether() && readPace.isQuick() && mayRead();
  }

  /** Takes what is read together, where {@link #mayRead} was just true. */
  List<Entry> beginRead() {
    return toRead.take(inOrder.peek());
  }

  /** What was taken and is not read comes before all others again. */
  void putBack(Entry entry) {
    toRead.putBack(entry);
  }

  /** What became of one of {@link #beginRead}: a batch, or an error. */
  void made(Entry entry, LoadedBatch batch, Throwable error, long nanos) {
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

  /** Whether a batch is still to be given out. Once it is not, it never will be. */
  boolean isWanted(Entry entry) {
    return !retired && !entry.isCancelled();
  }

  /** Nobody is given a batch, but a transform may have kept tensors of it. */
  static void discard(LoadedBatch batch) {
    if (batch != null) {
      batch.discard();
    }
  }

  /** The batch or the error that is given out next; null if it is not ready. */
  Entry firstReady() {
    Entry first = inOrder.peek();
    return first != null && first.isReady() ? first : null;
  }

  /** How many are ready, the first or others. */
  int ready() {
    return ready;
  }

  /** How many are planned and not given out. */
  int size() {
    return inOrder.size();
  }

  /** Takes {@link #firstReady}, which is then the consumer's. */
  void giveOut() {
    held.add(inOrder.element().slot());
    inOrder.remove();
    ready--;
  }

  /** The consumer is done with a batch. */
  void giveBack(Slot slot) {
    held.remove(slot);
    recycle(slot);
  }

  private void recycle(Slot slot) {
    if (retired) {
      budget.freed(slot);
      slot.free();
    }
    idle.addFirst(slot); // the next batch goes where the caches still are
  }

  /** From now on nothing is wanted, and memory is freed when it is given back. */
  void retire() {
    retired = true;
  }

  /** Forgets all batches that are not given out: who works on one gives its slot back. */
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

  /** Frees the slots that nobody uses. */
  void freeIdle() {
    Cleanup.runAll(idle.stream().map(slot -> slot::free));
  }

  /**
   * Frees the slots that nobody gave back, but for the consumer's: those of threads that ended by
   * an error between taking one and telling what became of it.
   */
  void freeLost() {
    Cleanup.runAll(slots.stream().filter(slot -> !held.contains(slot)).map(slot -> slot::free));
  }

  /** In words. */
  @Override
  public String toString() {
    return "%d of at most %d are planned, the consumer holds %d, %d sources are left, the batches have %s"
        .formatted(inOrder.size(), depth, held.size(), toPlan.sources(), budget);
  }
}
