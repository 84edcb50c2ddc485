// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.time.Duration;

/** Conversions of wait times. */
final class Waits {
  private Waits() {}

  /** Returns a time in nanoseconds, at most {@link Long#MAX_VALUE} (292 years). */
  static long nanos(Duration time) {
    try {
      return time.toNanos();
    } catch (ArithmeticException e) {
      return time.isNegative() ? 0 : Long.MAX_VALUE;
    }
  }
}
