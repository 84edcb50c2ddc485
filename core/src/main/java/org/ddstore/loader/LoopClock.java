package org.ddstore.loader;

/**
 * How much of a training loop's time is its own work, by the formula of the DLIO benchmark: {@code
 * sum(compute of the counted steps) / (end - start - (load + compute of the excluded steps))},
 * where the first steps, which fill the pipeline, are excluded. The mean counts each epoch alike,
 * as the benchmark does. Used by the consumer's thread.
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

  /** Another epoch begins; the one before counts in the mean if it had a counted step. */
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

  /**
   * The consumer asks for a batch, or is at the end: what it did since the last was its own work.
   */
  void asked(long now) {
    if (asking) {
      return; // it asks again for what was not ready
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

  /** The consumer got what it had asked for. */
  void got(long now) {
    steps++;
    if (steps <= EXCLUDED_STEPS) {
      excludedNanos += now - lastNanos;
    }
    asking = false;
    lastNanos = now;
  }

  /** Of this epoch: of [0, 1]; 0 before the first counted step is over. */
  double utilisation() {
    long all = countedNanos();
    return all <= 0 ? 0 : (double) countedComputeNanos / all;
  }

  private long countedNanos() {
    return lastNanos - startNanos - excludedNanos;
  }

  /** The sum of the utilisation of the epochs with a counted step, this one included; how many. */
  double[] totals() {
    return new double[] {sumOfEpochs + utilisation(), epochs + (countedNanos() <= 0 ? 0 : 1)};
  }
}
