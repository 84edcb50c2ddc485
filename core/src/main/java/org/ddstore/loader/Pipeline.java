// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PoolStarvedException;

/**
 * The queues between planner, workers and consumer. Batches are delivered in the order in which
 * they were planned, independent of the order of their reads. The pipeline has no threads of its
 * own; it synchronises those of {@link LoaderThreads} and the consumer. A consumer that finds
 * nothing ready does some work itself ({@link ConsumerWork}).
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
  /** Time that an iterator may ignore an interrupt before another thread plans in its place. */
  private static final long STUCK_NANOS = 1_000_000_000;

  /** Interval at which a waiting consumer checks for batches that it was not woken for. */
  private static final long LOOK_NANOS = 1_000_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition canPlan = lock.newCondition();
  private final Condition canRead = lock.newCondition();
  private final Condition canTake = lock.newCondition();
  private final BatchQueue batches;
  private final StageCounters counters;
  private final ConsumerWork consumer;
  private long starvedNanos; // from pops that timed out
  private int idleWorkers;
  private volatile Runnable replacePlanner = () -> {};
  private volatile boolean closed;
  private Throwable failure;
  private Throwable unfreed; // failures after the close

  /**
   * Creates a pipeline.
   *
   * @param clock time source in nanoseconds, for telling which operations are quick
   */
  Pipeline(Recipe recipe, LoaderOptions options, StageCounters counters, LongSupplier clock) {
    this.counters = counters;
    this.batches = new BatchQueue(recipe, options);
    this.consumer = new ConsumerWork(this, lock, batches, counters, clock);
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
  void wake() {
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
    if (isFirstReady() && !batches.gathersReady(idleWorkers)) {
      canTake.signalAll(); // the first waiter may give up while another still waits
    }
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
    return query(() -> batches.isWanted(entry));
  }

  /**
   * Records the outcome of {@link #nextToRead}: a batch or an error. Its worker then asks for the
   * next. Throws nothing, because the worker may hold further batches.
   *
   * @param nanos time in nanoseconds since the worker received it
   */
  void made(Entry entry, LoadedBatch batch, Throwable error, long nanos) {
    settled(() -> batches.made(entry, batch, error, nanos));
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
      while (true) {
        throwFailure();
        Entry next = batches.firstReady();
        if (next != null) {
          return take(next, start, left < most);
        }
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (batches.abandonPlan(STUCK_NANOS)) {
          replacePlanner.run();
        }
        if (left > 0 && consumer.works()) {
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
    return query(batches::size);
  }

  /** Returns whether {@link #pop} would return without waiting. */
  boolean isReady() {
    return query(this::isFirstReady);
  }

  private <T> T query(Supplier<T> state) {
    lock.lock();
    try {
      return state.get();
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
   * Frees the slots that threads have lost; the pipeline is closed, and all threads and consumers
   * have ended.
   */
  void freeLost() {
    locked(batches::freeLost);
  }

  /**
   * Throws the failures to free memory after the close; to be called when all threads have ended.
   */
  void checkFreed() {
    Throwable cause = query(() -> unfreed);
    if (cause != null) {
      throw new DDStoreException("memory of a closed loader could not be freed", cause);
    }
  }

  boolean isClosed() {
    return closed;
  }

  /** Returns the work that consumers do. */
  ConsumerWork consumer() {
    return consumer;
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
      throw new DDStoreException("loader failed to produce a batch: " + failure, failure);
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
