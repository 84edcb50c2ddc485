// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.util.Random;

/** Awkward inputs for reductions, and their results computed element by element. */
final class ReductionOracle {
  private static final float[] AWKWARD = {
    0f,
    -0f,
    Float.NaN,
    Float.POSITIVE_INFINITY,
    Float.NEGATIVE_INFINITY,
    Float.MIN_VALUE,
    -Float.MAX_VALUE,
    Float.MAX_VALUE,
    16777218f,
    1e-8f,
    Float.intBitsToFloat(0x7fa00001), // two NaN with a payload
    Float.intBitsToFloat(0xffc12345)
  };

  private ReductionOracle() {}

  static float[] floats(long seed, int rank, int length) {
    Random random = new Random(seed * 31 + rank);
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] =
          random.nextInt(3) == 0
              ? AWKWARD[random.nextInt(AWKWARD.length)]
              : (float) (random.nextGaussian() * Math.pow(10, random.nextInt(20) - 10));
    }
    return values;
  }

  static double[] doubles(long seed, int rank, int length) {
    float[] floats = floats(seed, rank, length);
    double[] values = new double[length];
    for (int i = 0; i < length; i++) {
      values[i] = floats[i] * 1.1;
    }
    return values;
  }

  static long[] longs(long seed, int rank, int length) {
    return new Random(seed * 31 + rank).longs(length).toArray();
  }

  static float[] reduceFloats(long seed, int size, int length, ReduceOp op) {
    float[] result = floats(seed, 0, length);
    for (int r = 1; r < size; r++) {
      float[] next = floats(seed, r, length);
      for (int i = 0; i < length; i++) {
        float a = result[i];
        float b = next[i];
        result[i] = op == ReduceOp.SUM ? a + b : op == ReduceOp.MIN ? least(a, b) : -least(-a, -b);
      }
    }
    return result;
  }

  static double[] reduceDoubles(long seed, int size, int length) {
    double[] result = doubles(seed, 0, length);
    for (int r = 1; r < size; r++) {
      double[] next = doubles(seed, r, length);
      for (int i = 0; i < length; i++) {
        result[i] = result[i] + next[i];
      }
    }
    return result;
  }

  static long[] reduceLongs(long seed, int size, int length, ReduceOp op) {
    long[] result = longs(seed, 0, length);
    for (int r = 1; r < size; r++) {
      long[] next = longs(seed, r, length);
      for (int i = 0; i < length; i++) {
        long a = result[i];
        long b = next[i];
        result[i] = op == ReduceOp.SUM ? a + b : (op == ReduceOp.MIN) == (a < b) ? a : b;
      }
    }
    return result;
  }

  private static float least(float a, float b) {
    if (Float.isNaN(a) || Float.isNaN(b)) {
      return Float.NaN;
    }
    return Float.compare(a, b) <= 0 ? a : b;
  }

  static int[] canonicalBits(float[] values) {
    int[] bits = new int[values.length];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = Float.floatToIntBits(values[i]);
    }
    return bits;
  }

  static int[] rawBits(float[] values) {
    int[] bits = new int[values.length];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = Float.floatToRawIntBits(values[i]);
    }
    return bits;
  }
}
