package org.ddstore.loader;

/**
 * Whether something is done in less time than waking a thread for it takes. One that was slow among
 * quick ones, since the system gave its thread's processor to another, changes nothing; some in a
 * row do. Guarded by the pipeline.
 */
final class Pace {
  private static final long QUICK_NANOS = 50_000;
  private static final long LEAST_STEP_NANOS = 1_000;
  private static final int STEPS = 8;

  private long nanos = Long.MAX_VALUE; // of the quickest of late; older ones count less and less

  void took(long now) {
    long before = Math.min(nanos, Long.MAX_VALUE / 2);
    nanos = Math.min(now, before + Math.max(LEAST_STEP_NANOS, before / STEPS));
  }

  /** False before the first. */
  boolean isQuick() {
    return nanos <= QUICK_NANOS;
  }
}
