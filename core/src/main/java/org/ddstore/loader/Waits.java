package org.ddstore.loader;

import java.time.Duration;

/** How long to wait. */
final class Waits {
  private Waits() {}

  /** A time in nanoseconds; the longest there is for all that is longer (292 years). */
  static long nanos(Duration time) {
    try {
      return time.toNanos();
    } catch (ArithmeticException e) {
      return time.isNegative() ? 0 : Long.MAX_VALUE;
    }
  }
}
