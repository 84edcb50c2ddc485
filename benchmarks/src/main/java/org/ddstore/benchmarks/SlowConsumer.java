// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A consumer that simulates a training step slower than the reader, and computes the share of time
 * that it waits from the reader's counters. It spins instead of sleeping.
 */
final class SlowConsumer implements EpochReader.Consumer {
  /** Duration of a step, in batches of a consumer that does nothing. */
  private static final int STEP_BATCHES = 4;

  /** Maximum number of first batches that do not count, because prefetching is still starting. */
  private static final int FIRST_BATCHES = 16;

  private final EpochReader reader;
  private final long stepNanos;
  private final long firstBatches;
  private long startNanos;
  private long waitedAtStart;
  private long nanos;
  private long waited;

  /**
   * @param epochSeconds duration of an epoch of a consumer that does nothing, in seconds
   */
  SlowConsumer(EpochReader reader, EpochPlan plan, double epochSeconds) {
    this.reader = reader;
    this.stepNanos = Math.round(epochSeconds * 1e9 / plan.steps() * STEP_BATCHES);
    this.firstBatches = Math.min(FIRST_BATCHES, plan.steps() / 2);
  }

  /** Returns the number of epochs that take {@code seconds}, at least 1. */
  static int epochs(double seconds, double epochSeconds) {
    return (int) Math.max(1, Math.ceil(seconds / (epochSeconds * STEP_BATCHES)));
  }

  /** Reads the prepared epoch. */
  void readEpoch() throws IOException {
    reader.read(this);
    nanos += System.nanoTime() - startNanos;
    waited += waitedNanos() - waitedAtStart;
  }

  /** Returns the share of time spent waiting after the first batches of epochs, in [0, 1]. */
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
