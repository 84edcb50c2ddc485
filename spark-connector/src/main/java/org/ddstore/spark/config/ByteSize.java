// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.config;

import java.util.Locale;

/** The text forms of amounts of memory: human-readable, and as Spark's settings. */
public final class ByteSize {
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

  private ByteSize() {}

  /** Returns an amount with two decimals and a binary unit, for example {@code 1.50 GiB}. */
  public static String format(long bytes) {
    double value = bytes;
    int unit = 0;
    while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.2f %s", value, UNITS[unit]);
  }

  /** Returns an amount rounded up to mebibytes, in the form of Spark's settings: {@code 1536m}. */
  public static String toSetting(long bytes) {
    return ((bytes + (1L << 20) - 1) >> 20) + "m";
  }
}
