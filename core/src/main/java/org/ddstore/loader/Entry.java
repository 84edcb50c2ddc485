package org.ddstore.loader;

/** A batch on its way through the pipeline, which guards it. */
final class Entry {
  private final BatchSource source;
  private final Slot slot;
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

  /**
   * Chooses its rows. By one thread at a time, which the pipeline sees to.
   *
   * @return false if its source has no more
   */
  boolean plan(StageCounters counters) {
    long start = System.nanoTime();
    if (!source.next(slot.plan())) {
      return false;
    }
    slot.locate();
    counters.count(Stage.PLAN, System.nanoTime() - start, 0);
    return true;
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
