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
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.PoolStarvedException;

/**
 * The queues between planner, workers and consumer. Batches are delivered in the order in which
 * they were planned, independent of the order of their reads. The pipeline has no threads of its
 * own; it synchronises those of {@link LoaderThreads} and the consumer.
 *
 * <pre>
 * idle slots -> planner -> toRead -> workers -> ready -> consumer -> idle slots
 *                    \________ inOrder: one queue ______/
 * </pre>
 *
 * <p>Each kind of thread waits for its own condition and is woken only when it can continue, not at
 * every change: a wake-up costs as much as reading some hundred rows.
 *
 * <p>A consumer that finds nothing ready plans a batch, or reads a planned one, if that recently
 * took no longer than waking a thread. Two threads that never sleep are faster than three that wake
 * each other. Measured 2026-11-23, two cores, 64 rows a batch: if the consumer does not read, an
 * epoch takes 1.2 times as long at 256 bytes a row, 1.3 times at 4 KiB; if it does not plan,
 * likewise.
 *
 * <p>A thread that holds a slot when the pipeline is closed, or the batch is cancelled, gives the
 * slot back. If that fails for lack of memory, the thread fails the pipeline, and the slot is freed
 * when all threads have ended.
 */
final class Pipeline {
  /** Time that an iterator may ignore an interrupt before another thread plans in its place. */
  private static final long STUCK_NANOS = 1_000_000_000;

  /** Interval at which a waiting consumer checks for batches that it was not woken for. */
  private static final long POLL_NANOS = 1_000_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition canPlan = lock.newCondition();
  private final Condition canRead = lock.newCondition();
  private final Condition canTake = lock.newCondition();
  private final Condition consumersIdle = lock.newCondition();
  private final BatchQueue batches;
  private final StageCounters counters;
  private final LongSupplier clock;
  private int workingConsumers;
  private volatile Thread lastWorkingConsumer;
  private long starvedNanos; // from pops that timed out
  private int idleWorkers;
  private volatile Runnable replacePlanner = () -> {};
  private volatile boolean closed;
  private Throwable failure;
  private Throwable unfreed; // failures after the close

  /**
   * @param clock time source in nanoseconds, for telling which operations are quick
   */
  Pipeline(Recipe recipe, LoaderOptions options, StageCounters counters, LongSupplier clock) {
    this.counters = counters;
    this.batches = new BatchQueue(recipe, options);
    this.clock = clock;
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

  /** Wakes the threads that can continue. Throws nothing: the callers' work is complete. */
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

  /** Records the outcome of {@link #nextToPlan}, after some nanoseconds. Throws nothing. */
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

  /** Records the outcome of {@link #nextToRead}, after some nanoseconds. Throws nothing. */
  void finished(Entry entry, LoadedBatch batch, Throwable error, long nanos) {
    settled(() -> batches.finished(entry, batch, error, nanos));
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
      long timeoutNanos = LoaderThreads.nanos(timeout);
      long left = timeoutNanos;
      while (true) {
        throwFailure();
        Entry next = batches.firstReady();
        if (next != null) {
          return take(next, start, left < timeoutNanos);
        }
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (batches.abandonPlan(STUCK_NANOS)) {
          replacePlanner.run();
        }
        if (left > 0 && workAsConsumer()) {
          left = Math.min(left - 1, timeoutNanos - (System.nanoTime() - start));
          continue;
        }
        if (left <= 0) {
          starvedNanos += System.nanoTime() - start;
          throw new PoolStarvedException("no batch within %s: %s".formatted(timeout, batches));
        }
        canTake.awaitNanos(Math.min(left, POLL_NANOS));
        left = timeoutNanos - (System.nanoTime() - start);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while waiting for a batch", e);
    } finally {
      lock.unlock();
    }
  }

  /** Plans or reads a batch in place of a wait. Returns false if there is no work for it. */
  private boolean workAsConsumer() {
    try {
      return planAsConsumer() || readAsConsumer();
    } catch (RuntimeException | Error e) {
      fail(e); // memory could not be freed to make room
      return true;
    }
  }

  private boolean planAsConsumer() {
    Entry entry = batches.plansQuickly() ? batches.beginPlan() : null;
    if (entry == null) {
      return false;
    }
    long start = clock.getAsLong();
    Throwable error = unlocked(() -> entry.plan(counters));
    planned(entry, error, clock.getAsLong() - start);
    return true;
  }

  private boolean readAsConsumer() {
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
    if (error != null && Thread.currentThread().isInterrupted() && batches.isWanted(entry)) {
      BatchQueue.discard(batch); // a worker makes it, and the loader continues
      batches.putBack(entry);
      wake();
    } else {
      finished(entry, batch, error, clock.getAsLong() - start);
    }
    return true;
  }

  /** Runs work without the lock, which is held once, and returns the failure, or null. */
  private Throwable unlocked(Runnable work) {
    workingConsumers++;
    lastWorkingConsumer = Thread.currentThread();
    lock.unlock();
    try {
      return LoaderThreads.caught(work);
    } finally {
      lock.lock();
      workingConsumers--;
      lastWorkingConsumer = null;
      consumersIdle.signalAll();
    }
  }

  /** Returns whether a thread is the last consumer that began to plan or read. */
  boolean isWorkingConsumer(Thread thread) {
    return lastWorkingConsumer == thread;
  }

  /**
   * Waits for consumers on other threads that are planning or reading; the pipeline is closed.
   *
   * @throws DeadlineExceededException if one is still running; it frees its batch when it ends
   */
  void awaitConsumers(Duration timeout) {
    boolean interrupted = false;
    lock.lock();
    try {
      long start = System.nanoTime();
      long timeoutNanos = LoaderThreads.nanos(timeout);
      long left = timeoutNanos;
      while (workingConsumers > 0 && left > 0) {
        try {
          consumersIdle.awaitNanos(left);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        left = timeoutNanos - (System.nanoTime() - start);
      }
      if (workingConsumers > 0) {
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

  void giveBack(Slot slot) {
    locked(() -> batches.giveBack(slot));
  }

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

  /** Frees the slots that threads have lost; all threads and consumers have ended. */
  void freeLost() {
    locked(batches::freeLost);
  }

  /** Throws the failures to free memory after the close. Called when all threads have ended. */
  void checkFreed() {
    Throwable cause = query(() -> unfreed);
    if (cause != null) {
      throw new DDStoreException("memory of a closed loader could not be freed", cause);
    }
  }

  boolean isClosed() {
    return closed;
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

  /** Runs a change as {@link #locked}, for the loader's threads: an exception ends the pipeline. */
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
