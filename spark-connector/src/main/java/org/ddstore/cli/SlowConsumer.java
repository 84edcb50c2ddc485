package org.ddstore.cli;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Takes batches as a training step does that is slower than what gives them, and finds by the
 * counters of the one who gives them how much of its time it waits. It works without sleeping.
 */
final class SlowConsumer implements EpochReader.Consumer {
  /** A step takes as long as so many batches take who does nothing with them. */
  private static final int STEP_BATCHES = 4;

  /** Batches at the beginning, at most, that do not count: they come while the first are read. */
  private static final int FIRST_BATCHES = 16;

  private final EpochReader reader;
  private final long stepNanos;
  private final long firstBatches;
  private long startNanos;
  private long waitedAtStart;
  private long nanos;
  private long waited;

  /**
   * @param epochSeconds what an epoch takes who does nothing with its batches
   */
  SlowConsumer(EpochReader reader, EpochPlan plan, double epochSeconds) {
    this.reader = reader;
    this.stepNanos = Math.round(epochSeconds * 1e9 / plan.steps() * STEP_BATCHES);
    this.firstBatches = Math.min(FIRST_BATCHES, plan.steps() / 2);
  }

  /** How many epochs take it so long, at least 1. */
  static int epochs(double seconds, double epochSeconds) {
    return (int) Math.max(1, Math.ceil(seconds / (epochSeconds * STEP_BATCHES)));
  }

  /** Reads the epoch that was prepared. */
  void readEpoch() throws IOException {
    reader.read(this);
    nanos += System.nanoTime() - startNanos;
    waited += waitedNanos() - waitedAtStart;
  }

  /** The part of the time after the first batches of epochs that passed in waiting: of [0, 1]. */
  double waits() {
    return (double) waited / nanos;
  }

  private long waitedNanos() {
    return reader.waitedNanos().orElseThrow();
  }

  @Override
  public void take(int number, ByteBuffer rows) {
    long now = System.nanoTime();
    if (number == firstBatches) {
      startNanos = now;
      waitedAtStart = waitedNanos();
    }
    while (System.nanoTime() - now < stepNanos) {
      Thread.onSpinWait();
    }
  }
}
