// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

/**
 * An estimate of whether an operation takes less time than waking a thread for it. One in four may
 * be slow because the system gave the processor to another thread; up to five in a row have been
 * observed. Guarded by the pipeline.
 */
final class Pace {
  /**
   * Limit for a quick operation. Waking a thread that awaits a condition took 10 us in the median
   * and 21 us at the 90th percentile (two cores, 2026-11-23), more when other threads run.
   */
  private static final long QUICK_NANOS = 50_000;

  private static final long LEAST_STEP_NANOS = 8_000;

  private long nanos = Long.MAX_VALUE; // the quickest recent time; older ones lose weight

  /**
   * Records the duration of an operation.
   *
   * @param duration time of an operation that did all that the others do, in nanoseconds
   */
  void record(long duration) {
    long before = Math.min(nanos, Long.MAX_VALUE / 2);
    nanos = Math.min(duration, before + Math.max(LEAST_STEP_NANOS, before / 2));
  }

  /** Returns whether the operation is quick; false before the first. */
  boolean isQuick() {
    return isQuick(nanos);
  }

  static boolean isQuick(long nanos) {
    return nanos <= QUICK_NANOS;
  }
}
