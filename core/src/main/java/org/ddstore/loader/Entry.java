package org.ddstore.loader;

import java.util.List;

/** A batch on its way through the pipeline, which guards it. */
final class Entry {
  private final BatchSource source;
  private final Slot slot;
  private boolean exists;
  private boolean cancelled;
  private boolean ready;
  private long readySinceNanos;
  private Throwable error;
  private LoadedBatch batch;

  Entry(BatchSource source, Slot slot) {
    this.source = source;
    this.slot = slot;
  }

  BatchSource source() {
    return source;
  }

  Slot slot() {
    return slot;
  }

  /** Chooses its rows, if its source has more. By one thread at a time, as the pipeline has it. */
  void plan(StageCounters counters) {
    long start = System.nanoTime();
    exists = source.next(slot.plan());
    if (exists) {
      slot.locate();
      counters.count(Stage.PLAN, System.nanoTime() - start, 0);
    }
  }

  /** Whether it was planned; false if its source had no more. */
  boolean exists() {
    return exists;
  }

  /** Whether it has as many samples as a batch of its source can have. */
  boolean isFull() {
    return slot.plan().size() == source.maxSize();
  }

  /** Reads the rows of some together, all of which are planned. */
  static void read(List<Entry> some, StageCounters counters) {
    long start = System.nanoTime();
    Slot.readRows(some.stream().map(Entry::slot).toList());
    long nanos = System.nanoTime() - start;
    some.get(0).slot.countReads(counters.reads()); // its reader has read all
    for (Entry entry : some) {
      counters.count(Stage.READ, nanos / some.size(), entry.slot.readBytes());
    }
  }

  /** Makes of its rows, which are read, what is given out. */
  void convert(Runnable transform, StageCounters counters) {
    long start = System.nanoTime();
    slot.convert();
    transform.run();
    counters.count(Stage.TRANSFORM, System.nanoTime() - start, slot.valueBytes());
    slot.presentBytes(); // so that the pipeline need not count them under its lock
  }

  /** Nobody wants it any more: whoever works on it gives its slot back. */
  void cancel() {
    cancelled = true;
  }

  boolean isCancelled() {
    return cancelled;
  }

  /** Nobody works on it any more: it has a batch or an error. */
  void ready(LoadedBatch itsBatch, Throwable itsError) {
    ready = true;
    batch = itsBatch;
    error = itsError;
    readySinceNanos = System.nanoTime();
  }

  boolean isReady() {
    return ready;
  }

  long readySinceNanos() {
    return readySinceNanos;
  }

  /** Null if it is not ready, or has an error. */
  LoadedBatch batch() {
    return batch;
  }

  /** Null if it has a batch. */
  Throwable error() {
    return error;
  }
}
