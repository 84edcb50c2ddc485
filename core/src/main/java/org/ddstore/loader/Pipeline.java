package org.ddstore.loader;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.PoolStarvedException;

/**
 * The queues between planner, workers and consumer. Batches are delivered in the order in which
 * they were planned, independent of the order of their reads. The pipeline has no threads of its
 * own; it synchronises those of {@link Crew} and the consumer. A consumer that finds nothing ready
 * plans and reads batches itself, and one that comes back at once plans ahead, if that is quick and
 * never waits.
 *
 * <pre>
 * idle slots -> planner -> toRead -> workers -> ready -> consumer -> idle slots
 *                    \________ inOrder: one queue ______/
 * </pre>
 *
 * <p>Each kind of thread waits for its own condition and is woken only when it can continue, not at
 * every change: a wake-up costs as much as reading some hundred rows.
 *
 * <p>A thread that holds a slot when the pipeline is closed, or the batch is cancelled, gives the
 * slot back. If that fails for lack of memory, the thread fails the pipeline, and the slot is freed
 * when all threads have ended.
 */
final class Pipeline {
  /** Number of quickly made batches that are handed to a waiting consumer together. */
  private static final int QUICK_AT_ONCE = 4;

  /** Time that an iterator may ignore an interrupt before another thread plans in its place. */
  private static final long STUCK_NANOS = 1_000_000_000;

  /** Interval at which a waiting consumer checks for batches that it was not woken for. */
  private static final long LOOK_NANOS = 1_000_000;

  private final BriefLock lock = new BriefLock();
  private final Condition canPlan = lock.newCondition();
  private final Condition canRead = lock.newCondition();
  private final Condition canTake = lock.newCondition();
  private final Condition noHelper = lock.newCondition();
  private final BatchQueue batches;
  private final StageCounters counters;
  private final LongSupplier clock;
  private final int workers;
  private final int wakeBatches;
  private long starvedNanos; // from pops that timed out
  private int idleWorkers;
  private boolean lastWasQuick;
  private long tookNanos; // when the consumer took the last batch
  private int helpers; // consumers that are planning or reading
  private volatile Thread lastHelper;
  private volatile Runnable replacePlanner = () -> {};
  private volatile boolean closed;
  private Throwable failure;
  private Throwable unfreed; // failures after the close

  Pipeline(Recipe recipe, LoaderOptions options, StageCounters counters) {
    this(recipe, options, counters, System::nanoTime);
  }

  /**
   * Creates a pipeline.
   *
   * @param clock time source in nanoseconds, for telling which operations are quick
   */
  Pipeline(Recipe recipe, LoaderOptions options, StageCounters counters, LongSupplier clock) {
    this.clock = clock;
    this.tookNanos = clock.getAsLong() - Long.MAX_VALUE / 2;
    this.counters = counters;
    this.batches = new BatchQueue(recipe, options);
    this.workers = options.workers();
    this.wakeBatches = Math.min(options.depth() / 2, QUICK_AT_ONCE);
  }

  /**
   * Sets the action that continues planning on another thread.
   *
   * @param replacePlanner called under the lock of this pipeline
   */
  void onStuckPlanner(Runnable replacePlanner) {
    this.replacePlanner = replacePlanner;
  }

  /**
   * Rejects the batches that {@link #push} would reject.
   *
   * @param samples samples per batch
   */
  void check(int samples) {
    lock.lock();
    try {
      throwFailure();
      batches.check(samples);
    } finally {
      lock.unlock();
    }
  }

  /** Adds batches after those already planned. */
  void push(BatchSource source) {
    locked(
        () -> {
          check(source.maxSize());
          batches.add(source);
        });
  }

  /** Discards all undelivered batches; keeps a failure. */
  void reset() {
    locked(
        () -> {
          throwFailure();
          batches.forget();
        });
  }

  /**
   * Wakes the threads that can continue. Throws nothing, because the callers have already completed
   * their work.
   */
  private void wake() {
    try {
      signal();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void signal() {
    boolean mayRead = batches.mayRead();
    boolean lacksBatches = batches.runsShort() || (idleWorkers > 0 && !mayRead);
    if (batches.hasPlace() && !batches.isPlanning() && (lacksBatches || batches.lacksMemory())) {
      canPlan.signal(); // the planner is one thread, woken once for several batches
    }
    if (mayRead) {
      canRead.signal(); // a worker that leaves batches behind wakes the next
    }
    if (isFirstReady() && !waitsForMore()) {
      canTake.signalAll(); // the first waiter may give up while another still waits
    }
  }

  /**
   * Returns whether to wake the consumer later, for several batches at once: batches come so
   * quickly that a wake-up for each costs as much. If the next batch is not quick, the consumer
   * finds the ready ones by itself.
   */
  private boolean waitsForMore() {
    return lastWasQuick && idleWorkers < workers && batches.ready() < wakeBatches;
  }

  private boolean isFirstReady() {
    return failure != null || batches.firstReady() != null;
  }

  /** Returns a batch to plan; waits for a source, a slot and memory. Returns null at the end. */
  Entry nextToPlan() {
    lock.lock();
    try {
      while (!closed) {
        if (!batches.isPlanning()) {
          Entry entry = batches.beginPlan();
          if (entry != null) {
            return entry;
          }
          if (batches.lacksMemory() && batches.mayRead()) {
            canRead.signal(); // the window does not grow any further
          }
        }
        canPlan.awaitUninterruptibly();
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Lets a consumer that would otherwise wait do the next piece of work: plan a batch, or read a
   * planned one. Two threads that never sleep are faster than three that wake each other. Only work
   * that recently took no longer than waking a thread.
   *
   * @return false if there is no work for the consumer
   */
  private boolean workMeanwhile() {
    return helps(() -> planMeanwhile() || readMeanwhile());
  }

  /**
   * Lets a consumer whose batch is ready plan another one, if few are planned and it comes back
   * sooner than a thread is woken, so that the planner need not be woken.
   */
  private boolean planAhead() {
    return helps(
        () ->
            batches.hasFewPlanned()
                && Pace.isQuick(clock.getAsLong() - tookNanos)
                && !Thread.currentThread().isInterrupted()
                && planMeanwhile());
  }

  private boolean helps(BooleanSupplier work) {
    try {
      return work.getAsBoolean();
    } catch (RuntimeException | Error e) {
      fail(e); // from memory that could not be freed to make room
      return true;
    }
  }

  private boolean planMeanwhile() {
    Entry entry = batches.plansQuickly() ? batches.beginPlan() : null;
    if (entry == null) {
      return false;
    }
    long start = clock.getAsLong();
    Throwable error = unlocked(() -> entry.plan(counters));
    planned(entry, error, clock.getAsLong() - start);
    return true;
  }

  private boolean readMeanwhile() {
    if (!batches.readsQuickly()) {
      return false;
    }
    List<Entry> entries = batches.beginRead();
    Entry entry = entries.get(0);
    LoadedBatch batch = batchOf(entry);
    long start = clock.getAsLong();
    Throwable error =
        unlocked(
            () -> {
              Entry.read(entries, counters);
              entry.convert(() -> {}, counters);
            });
    if (error != null && Thread.currentThread().isInterrupted() && isWanted(entry)) {
      BatchQueue.discard(batch); // a worker makes it, and the loader continues
      batches.putBack(entry);
      wake();
    } else {
      made(entry, batch, error, clock.getAsLong() - start);
    }
    return true;
  }

  /** Runs work without the lock, which is held once, and returns the failure, or null. */
  private Throwable unlocked(Runnable work) {
    helpers++;
    lastHelper = Thread.currentThread();
    lock.unlock();
    try {
      return Crew.caught(work);
    } finally {
      lock.lock();
      helpers--;
      lastHelper = null;
      noHelper.signalAll();
    }
  }

  /**
   * Records the outcome of {@link #nextToPlan}: a batch to read, the end of its source, or an
   * error. Throws nothing.
   *
   * @param nanos planning time in nanoseconds
   */
  void planned(Entry entry, Throwable error, long nanos) {
    settled(() -> batches.planned(entry, error, nanos));
  }

  /** Returns the batch that the consumer receives once the entry is made. */
  LoadedBatch batchOf(Entry entry) {
    Slot slot = entry.slot();
    return new LoadedBatch(slot, () -> giveBack(slot));
  }

  /** Returns batches to read together; waits for at least one. Returns an empty list at the end. */
  List<Entry> nextToRead() {
    lock.lock();
    try {
      while (!closed) {
        if (batches.mayRead()) {
          List<Entry> together = batches.beginRead();
          wake();
          return together;
        }
        idleWorkers++;
        wake();
        canRead.awaitUninterruptibly();
        idleWorkers--;
      }
      return List.of();
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether a batch will still be delivered. Once false, it stays false. */
  boolean isWanted(Entry entry) {
    lock.lock();
    try {
      return batches.isWanted(entry);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Records the outcome of {@link #nextToRead}: a batch or an error. Its worker then asks for the
   * next. Throws nothing, because the worker may hold further batches.
   *
   * @param nanos time in nanoseconds since the worker received it
   */
  void made(Entry entry, LoadedBatch batch, Throwable error, long nanos) {
    settled(
        () -> {
          lastWasQuick = Pace.isQuick(nanos);
          batches.made(entry, batch, error, nanos);
        });
  }

  /**
   * Returns the next batch, which the caller then owns.
   *
   * @throws PoolStarvedException if no batch is ready in time; the next call continues to wait
   */
  LoadedBatch pop(Duration timeout) {
    lock.lock();
    try {
      long start = System.nanoTime();
      long most = Waits.nanos(timeout);
      long left = most;
      boolean mayPlanAhead = most > 0;
      while (true) {
        throwFailure();
        Entry next = batches.firstReady();
        if (next != null) {
          if (mayPlanAhead && planAhead()) {
            mayPlanAhead = false; // plan at most one per batch taken
            continue;
          }
          return take(next, start, left < most);
        }
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (batches.abandonPlan(STUCK_NANOS)) {
          replacePlanner.run();
        }
        if (left > 0 && workMeanwhile()) {
          left = Math.min(left - 1, most - (System.nanoTime() - start));
          continue;
        }
        if (left <= 0) {
          starvedNanos += System.nanoTime() - start;
          throw new PoolStarvedException("no batch within %s: %s".formatted(timeout, batches));
        }
        canTake.awaitNanos(Math.min(left, LOOK_NANOS));
        left = most - (System.nanoTime() - start);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while waiting for a batch", e);
    } finally {
      lock.unlock();
    }
  }

  private LoadedBatch take(Entry next, long startNanos, boolean waited) {
    if (next.error() != null) {
      fail(next.error());
      throwFailure();
    }
    batches.giveOut();
    long now = System.nanoTime();
    if (waited || starvedNanos > 0) {
      counters.count(Stage.TRAINER_WAITS, starvedNanos + now - startNanos, 0);
      starvedNanos = 0;
    }
    counters.count(Stage.BATCH_WAITS, now - next.readySinceNanos(), 0);
    tookNanos = clock.getAsLong();
    wake();
    next.batch().giveOut();
    return next.batch();
  }

  /** Takes back the slot of a batch that the consumer has closed. */
  void giveBack(Slot slot) {
    locked(() -> batches.giveBack(slot));
  }

  /** Returns the number of planned batches that are not yet delivered. */
  int pending() {
    lock.lock();
    try {
      return batches.size();
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether {@link #pop} would return without waiting. */
  boolean isReady() {
    lock.lock();
    try {
      return isFirstReady();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the pipeline with an error that belongs to no batch: the consumer receives it at once, and
   * the close reports any later one. Frees the slots that no thread holds.
   */
  void fail(Throwable error) {
    lock.lock();
    try {
      if (closed) {
        unfreed = unfreed == null ? error : unfreed;
      } else if (failure == null) {
        failure = error;
        batches.retire();
        wakeAll();
        batches.forget();
      } else if (failure != error) {
        failure.addSuppressed(error);
      }
    } catch (RuntimeException e) {
      error.addSuppressed(e);
    } finally {
      lock.unlock();
    }
  }

  private void wakeAll() {
    canPlan.signalAll();
    canRead.signalAll();
    canTake.signalAll();
  }

  /** Ends all waiting and frees the slots that no thread holds. */
  void close() {
    lock.lock();
    try {
      closed = true;
      batches.retire();
      wakeAll(); // first, so that a failure to free memory leaves no thread waiting
      Cleanup.runAll(Stream.of(batches::forget, batches::freeIdle));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for consumers on other threads that are planning or reading; the pipeline is closed.
   *
   * @throws DeadlineExceededException if one is still running; it frees its batch when it ends
   */
  void awaitHelpers(Duration timeout) {
    boolean interrupted = false;
    lock.lock();
    try {
      long start = System.nanoTime();
      long most = Waits.nanos(timeout);
      long left = most;
      while (helpers > 0 && left > 0) {
        try {
          noHelper.awaitNanos(left);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        left = most - (System.nanoTime() - start);
      }
      if (helpers > 0) {
        throw new DeadlineExceededException(
            "a pop still reads %s after the close of its loader; it frees its batch when it ends"
                .formatted(timeout));
      }
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Frees the slots that threads have lost; the pipeline is closed, and all threads and helpers
   * have ended.
   */
  void freeLost() {
    locked(batches::freeLost);
  }

  /**
   * Throws the failures to free memory after the close; to be called when all threads have ended.
   */
  void checkFreed() {
    lock.lock();
    try {
      if (unfreed != null) {
        throw new DDStoreException("memory of a closed loader could not be freed", unfreed);
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isClosed() {
    return closed;
  }

  /** Returns whether a thread is the last consumer that began to plan or read. */
  boolean isHelper(Thread thread) {
    return lastHelper == thread;
  }

  private void throwFailure() {
    if (closed) {
      throw new IllegalStateException("closed: the loader");
    }
    if (failure instanceof RuntimeException unchecked) {
      throw unchecked;
    } else if (failure instanceof Error error) {
      throw error;
    } else if (failure != null) {
      throw new DDStoreException("a batch could not be made", failure);
    }
  }

  /**
   * Runs a change as {@link #locked} for the threads of the loader: an exception fails the
   * pipeline.
   */
  private void settled(Runnable change) {
    try {
      locked(change);
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void locked(Runnable change) {
    lock.lock();
    try {
      change.run();
      wake();
    } finally {
      lock.unlock();
    }
  }
}
