package org.ddstore.loader;

/**
 * Whether something takes less time than to wake a thread for it. One in four may be slow, because
 * the system gave its thread's processor to another; up to five in a row are seen. Guarded by the
 * pipeline.
 */
final class Pace {
  private static final long QUICK_NANOS = 50_000;
  private static final long LEAST_STEP_NANOS = 8_000;

  private long nanos = Long.MAX_VALUE; // of the quickest of late; older ones count less and less

  /**
   * @param now of one that did all that the others do
   */
  void took(long now) {
    long before = Math.min(nanos, Long.MAX_VALUE / 2);
    nanos = Math.min(now, before + Math.max(LEAST_STEP_NANOS, before / 2));
  }

  /** False before the first. */
  boolean isQuick() {
    return isQuick(nanos);
  }

  static boolean isQuick(long nanos) {
    return nanos <= QUICK_NANOS;
  }
}
