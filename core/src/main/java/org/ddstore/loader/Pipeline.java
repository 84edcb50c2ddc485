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
 * The queues between planner, workers and consumer. Batches are given out in the order in which
 * they were planned, whoever was read first. It has no threads; those of {@link Crew} and of the
 * consumer meet here. A consumer that finds nothing ready plans and reads some itself, and one that
 * comes back at once plans ahead, where that is quick and never waits.
 *
 * <pre>
 * idle slots -> planner -> toRead -> workers -> ready -> consumer -> idle slots
 *                    \________ inOrder: one queue ______/
 * </pre>
 *
 * <p>Each kind of thread waits for a condition of its own and is woken when it can go on, not
 * whenever something has changed: a wake-up costs as much as reading some hundred rows.
 *
 * <p>Whoever has a slot when the pipeline is closed, or its batch is cancelled, gives it back. Who
 * cannot, for want of memory, fails the pipeline, and the slot is freed when all threads have
 * ended.
 */
final class Pipeline {
  /** Batches that are made quickly are handed to a waiting consumer some at once. */
  private static final int QUICK_AT_ONCE = 4;

  /** How long an iterator may ignore an interrupt before another thread plans in its place. */
  private static final long STUCK_NANOS = 1_000_000_000;

  /** How often a waiting consumer looks for batches that it was not woken for. */
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
  private final int someAtOnce;
  private long starvedNanos; // of pops that gave up
  private int idleWorkers;
  private boolean lastWasQuick;
  private long tookNanos; // when the consumer took the last
  private int helpers; // consumers that plan or read
  private volatile Thread lastHelper;
  private volatile Runnable replacePlanner = () -> {};
  private volatile boolean closed;
  private Throwable failure;
  private Throwable unfreed; // what went wrong after the close

  Pipeline(Recipe recipe, LoaderOptions options, StageCounters counters) {
    this(recipe, options, counters, System::nanoTime);
  }

  /**
   * @param clock that tells what is quick, in nanoseconds
   */
  Pipeline(Recipe recipe, LoaderOptions options, StageCounters counters, LongSupplier clock) {
    this.clock = clock;
    this.tookNanos = clock.getAsLong() - Long.MAX_VALUE / 2;
    this.counters = counters;
    this.batches = new BatchQueue(recipe, options);
    this.workers = options.workers();
    this.someAtOnce = Math.min(options.depth() / 2, QUICK_AT_ONCE);
  }

  /**
   * Says how to go on planning on another thread.
   *
   * @param newReplacePlanner called under the lock of this
   */
  void onStuckPlanner(Runnable newReplacePlanner) {
    replacePlanner = newReplacePlanner;
  }

  /**
   * Refuses what {@link #push} would.
   *
   * @param samples of a batch
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

  /** Adds batches after those that are planned. */
  void push(BatchSource source) {
    locked(
        () -> {
          check(source.maxSize());
          batches.add(source);
        });
  }

  /** Forgets all batches that are not given out, but not a failure. */
  void reset() {
    locked(
        () -> {
          throwFailure();
          batches.forget();
        });
  }

  /** Wakes who can go on. Throws nothing: whoever calls it has done what it was to do. */
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
      canPlan.signal(); // the planner is one thread, woken once for some batches
    }
    if (mayRead) {
      canRead.signal(); // a worker that leaves batches wakes the next
    }
    if (isFirstReady() && !waitsForMore()) {
      canTake.signalAll(); // the first to ask may give up, and another still wait
    }
  }

  /**
   * Whether the consumer is woken later, for some at once: batches come so quickly that waking it
   * for each costs as much. If the next one is not quick, the consumer finds by itself what is
   * there.
   */
  private boolean waitsForMore() {
    return lastWasQuick && idleWorkers < workers && batches.ready() < someAtOnce;
  }

  private boolean isFirstReady() {
    return failure != null || batches.firstReady() != null;
  }

  /** A batch to be planned; waits for a source, a slot and memory. Null at the end. */
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
            canRead.signal(); // the window will not grow
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
   * Has a consumer that would wait do what is to be done next: plan a batch, or read one that is
   * planned. Two threads that never sleep are faster than three that wake each other. Only what
   * took no longer of late than waking a thread.
   *
   * @return false if there is nothing that the consumer could do
   */
  private boolean workMeanwhile() {
    return helps(() -> planMeanwhile() || readMeanwhile());
  }

  /**
   * Has a consumer whose batch is ready plan another one, if it comes back sooner than a thread is
   * woken and few are planned: so that the planner need not be woken.
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
      fail(e); // of memory that could not be freed to make room
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
    List<Entry> one = batches.beginRead();
    Entry entry = one.get(0);
    LoadedBatch batch = batchOf(entry);
    long start = clock.getAsLong();
    Throwable error =
        unlocked(
            () -> {
              Entry.read(one, counters);
              entry.convert(() -> {}, counters);
            });
    if (error != null && Thread.currentThread().isInterrupted() && isWanted(entry)) {
      BatchQueue.discard(batch); // a worker makes it, and the loader goes on
      batches.putBack(entry);
      wake();
    } else {
      made(entry, batch, error, clock.getAsLong() - start);
    }
    return true;
  }

  /** Does something without the lock, which is held once, and returns what has failed. */
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
   * What became of {@link #nextToPlan}: a batch to be read, the end of its source, or an error.
   * Throws nothing.
   *
   * @param nanos that it took
   */
  void planned(Entry entry, Throwable error, long nanos) {
    settled(() -> batches.planned(entry, error, nanos));
  }

  /** What its consumer is given, once it is made. */
  LoadedBatch batchOf(Entry entry) {
    Slot slot = entry.slot();
    return new LoadedBatch(slot, () -> giveBack(slot));
  }

  /** Batches to be read together; waits for some. None at the end. */
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

  /** Whether a batch is still to be given out. Once it is not, it never will be. */
  boolean isWanted(Entry entry) {
    lock.lock();
    try {
      return batches.isWanted(entry);
    } finally {
      lock.unlock();
    }
  }

  /**
   * What became of {@link #nextToRead}: a batch, or an error. Its worker then asks for the next.
   * Throws nothing, for the worker may have others.
   *
   * @param nanos since its worker was given it
   */
  void made(Entry entry, LoadedBatch batch, Throwable error, long nanos) {
    settled(
        () -> {
          lastWasQuick = Pace.isQuick(nanos);
          batches.made(entry, batch, error, nanos);
        });
  }

  /**
   * The next batch, which is then the caller's.
   *
   * @throws PoolStarvedException if there is none in time; the next call goes on waiting
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
            mayPlanAhead = false; // one for each that it takes
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

  /** The consumer is done with a batch. */
  void giveBack(Slot slot) {
    locked(() -> batches.giveBack(slot));
  }

  /** Batches that are planned and not given out. */
  int pending() {
    lock.lock();
    try {
      return batches.size();
    } finally {
      lock.unlock();
    }
  }

  /** True if {@link #pop} would not wait. */
  boolean isReady() {
    lock.lock();
    try {
      return isFirstReady();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the pipeline with an error that is of no batch: the consumer is given it at once, the
   * close what comes after it. Frees what nobody has.
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

  /** Ends all waiting; frees what nobody has. */
  void close() {
    lock.lock();
    try {
      closed = true;
      batches.retire();
      wakeAll(); // first: whatever cannot be freed, nobody waits for it
      Cleanup.runAll(Stream.of(batches::forget, batches::freeIdle));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for consumers on other threads that plan or read in this moment; it is closed.
   *
   * @throws DeadlineExceededException if one goes on; it frees its batch when it ends
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

  /** Frees what threads have lost; it is closed, and they and all helpers have ended. */
  void freeLost() {
    locked(batches::freeLost);
  }

  /** Throws what threads could not free after the close; to be called when they have ended. */
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

  /** Whether a thread is a consumer that plans or reads, and was the last to begin. */
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

  /** As {@link #locked}, for the threads of the loader: what is thrown fails the pipeline. */
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
