// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

import java.math.BigInteger;

/** Formatter of row ranges for messages. */
public final class RowSpan {
  private RowSpan() {}

  /** Returns {@code [first, first + count)}, exact even if the end exceeds a long. */
  public static String format(long first, long count) {
    return "[%d, %d)".formatted(first, BigInteger.valueOf(first).add(BigInteger.valueOf(count)));
  }
}
