package org.ddstore.layout;

import java.math.BigInteger;

/** Consecutive rows, for messages. */
public final class RowSpan {
  private RowSpan() {}

  /** Returns {@code [first, first + count)}, exact also where that end exceeds a long. */
  public static String format(long first, long count) {
    return "[%d, %d)".formatted(first, BigInteger.valueOf(first).add(BigInteger.valueOf(count)));
  }
}
