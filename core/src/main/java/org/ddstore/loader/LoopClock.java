// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that measures the share of a training loop's own work in its time, by the formula of the
 * DLIO benchmark: {@code sum(compute of the counted steps) / (end - start - (load + compute of the
 * excluded steps))}. The first steps, which fill the pipeline, are excluded. The mean weights each
 * epoch equally, as the benchmark does. Used by the consumer's thread; any thread may read the
 * totals of all steps, {@link #batches()} and {@link #computeNanos()}.
 */
final class LoopClock {
  private static final int EXCLUDED_STEPS = 1;

  private long steps;
  private boolean asking;
  private long startNanos;
  private long lastNanos;
  private long countedComputeNanos;
  private long excludedNanos;
  private double sumOfEpochs;
  private int epochs;
  private final AtomicLong batches = new AtomicLong(); // written by the consumer's thread only
  private final AtomicLong computeNanos = new AtomicLong(); // as well

  /** Begins another epoch; the previous one counts in the mean if it had a counted step. */
  void begin() {
    double[] totals = totals();
    sumOfEpochs = totals[0];
    epochs = (int) totals[1];
    steps = 0;
    asking = false;
    startNanos = 0;
    lastNanos = 0;
    countedComputeNanos = 0;
    excludedNanos = 0;
  }

  /** Records a request or the end: the time since the last batch was the consumer's own work. */
  void asked(long now) {
    if (asking) {
      return; // a repeated request for a batch that was not ready
    }
    if (steps > 0) {
      computeNanos.setOpaque(computeNanos.getPlain() + now - lastNanos);
    }
    if (steps == 0) {
      startNanos = now;
    } else if (steps <= EXCLUDED_STEPS) {
      excludedNanos += now - lastNanos;
    } else {
      countedComputeNanos += now - lastNanos;
    }
    asking = true;
    lastNanos = now;
  }

  /** Records that the consumer received the requested batch. */
  void received(long now) {
    steps++;
    batches.setOpaque(batches.getPlain() + 1);
    if (steps <= EXCLUDED_STEPS) {
      excludedNanos += now - lastNanos;
    }
    asking = false;
    lastNanos = now;
  }

  /** Returns the utilisation of this epoch, in [0, 1]; 0 before the first counted step ends. */
  double utilisation() {
    long all = countedNanos();
    return all <= 0 ? 0 : (double) countedComputeNanos / all;
  }

  private long countedNanos() {
    return lastNanos - startNanos - excludedNanos;
  }

  /** Returns the sum of the utilisation of all epochs with a counted step, and their number. */
  double[] totals() {
    return new double[] {sumOfEpochs + utilisation(), epochs + (countedNanos() <= 0 ? 0 : 1)};
  }

  /** Returns the number of batches of all epochs that the consumer has received. */
  long batches() {
    return batches.getOpaque();
  }

  /** Returns the time from the receipt of each batch to the next request, in nanoseconds. */
  long computeNanos() {
    return computeNanos.getOpaque();
  }
}
