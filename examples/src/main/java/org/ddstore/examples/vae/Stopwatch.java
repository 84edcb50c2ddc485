// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

/** The time that a rank has trained, in an attempt. */
final class Stopwatch {
  private static final double NANOS = 1e9;

  private long totalNanos;
  private long sinceNanos;
  private boolean isRunning;

  /** Starts, or continues if it runs. */
  void start() {
    if (!isRunning) {
      sinceNanos = System.nanoTime();
      isRunning = true;
    }
  }

  void stop() {
    if (isRunning) {
      totalNanos += System.nanoTime() - sinceNanos;
      isRunning = false;
    }
  }

  /** Returns a number of things per second of the time so far; 0 if nothing was timed. */
  double perSecond(long count) {
    return totalNanos == 0 ? 0 : count * NANOS / totalNanos;
  }
}
