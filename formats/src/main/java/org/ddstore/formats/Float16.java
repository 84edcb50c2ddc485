// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

/** Conversion of IEEE 754 binary16 numbers, which the JDK has only since release 20. */
final class Float16 {
  private static final int EXPONENT_BIAS_DIFFERENCE = 127 - 15;
  private static final float SMALLEST = 0x1p-24f;

  private Float16() {}

  /** Returns the number of the same value; every binary16 number is a binary32 number. */
  static float toFloat(short half) {
    int sign = (half & 0x8000) << 16;
    int exponent = (half >> 10) & 0x1F;
    int fraction = half & 0x3FF;
    if (exponent == 0) { // zero or subnormal
      return Float.intBitsToFloat(sign | Float.floatToRawIntBits(fraction * SMALLEST));
    }
    int wide = exponent == 0x1F ? 0xFF : exponent + EXPONENT_BIAS_DIFFERENCE;
    return Float.intBitsToFloat(sign | (wide << 23) | (fraction << 13));
  }
}
