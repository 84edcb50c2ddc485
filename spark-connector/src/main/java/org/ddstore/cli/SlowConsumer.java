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

  private SlowConsumer(EpochReader reader, EpochPlan plan, double epochSeconds) {
    this.reader = reader;
    this.stepNanos = Math.round(epochSeconds * 1e9 / plan.steps() * STEP_BATCHES);
    this.firstBatches = Math.min(FIRST_BATCHES, plan.steps() / 2);
  }

  /**
   * Reads the epoch that was prepared.
   *
   * @param epochSeconds what an epoch takes who does nothing with its batches
   * @return the part of the time after the first batches that passed in waiting: of [0, 1]
   */
  static double waits(EpochReader reader, EpochPlan plan, double epochSeconds) throws IOException {
    SlowConsumer consumer = new SlowConsumer(reader, plan, epochSeconds);
    reader.read(consumer);
    long nanos = System.nanoTime() - consumer.startNanos;
    long waited = reader.waitedNanos().orElseThrow() - consumer.waitedAtStart;
    return (double) waited / nanos;
  }

  @Override
  public void take(int number, ByteBuffer rows) {
    long now = System.nanoTime();
    if (number == firstBatches) {
      startNanos = now;
      waitedAtStart = reader.waitedNanos().orElseThrow();
    }
    while (System.nanoTime() - now < stepNanos) {
      Thread.onSpinWait();
    }
  }
}
