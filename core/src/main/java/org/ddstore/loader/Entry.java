// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.List;

/** A batch in flight through the pipeline, which guards it. */
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

  /** Chooses the rows, if the source has more. Called by one thread at a time. */
  void plan(StageCounters counters) {
    long start = System.nanoTime();
    exists = source.next(slot.plan());
    if (exists) {
      slot.locate();
      counters.count(Stage.PLAN, System.nanoTime() - start, 0);
    }
  }

  /** Returns whether the batch was planned; false if its source was exhausted. */
  boolean exists() {
    return exists;
  }

  /** Returns whether the batch has the largest number of samples of its source. */
  boolean isFull() {
    return slot.plan().size() == source.maxSize();
  }

  /** Reads the rows of some planned entries together. */
  static void read(List<Entry> entries, StageCounters counters) {
    long start = System.nanoTime();
    Slot.readRows(entries.stream().map(Entry::slot).toList());
    long nanos = System.nanoTime() - start;
    entries.get(0).slot.countReads(counters); // the first reader reads for all
    for (Entry entry : entries) {
      counters.count(Stage.READ, nanos / entries.size(), entry.slot.readBytes());
    }
  }

  void convert(Runnable transform, StageCounters counters) {
    long start = System.nanoTime();
    slot.convert();
    transform.run();
    counters.count(Stage.TRANSFORM, System.nanoTime() - start, slot.valueBytes());
    slot.presentBytes(); // computed here so that the pipeline need not do it under its lock
  }

  /** Cancels the batch; a thread that works on it gives its slot back. */
  void cancel() {
    cancelled = true;
  }

  boolean isCancelled() {
    return cancelled;
  }

  /** Marks the batch as finished, with a batch or an error. */
  void ready(LoadedBatch batch, Throwable error) {
    ready = true;
    this.batch = batch;
    this.error = error;
    readySinceNanos = System.nanoTime();
  }

  boolean isReady() {
    return ready;
  }

  long readySinceNanos() {
    return readySinceNanos;
  }

  /** Returns the batch; null if it is not ready or has failed. */
  LoadedBatch batch() {
    return batch;
  }

  /** Returns the error; null if there is a batch. */
  Throwable error() {
    return error;
  }
}
